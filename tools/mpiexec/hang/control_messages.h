// Control messages: what mpiexec asks of each host of the job, and what the host replies
// (docs/decisions/022-deadlocks-over-hosts.md). On one host they are passed by a function call, to other
// hosts over the proxy's connection.
#pragma once

#include <cstdint>
#include <string>

namespace clump::mpiexec {

struct ControlMessage {
  enum class Kind : std::uint8_t {
    kCheck,     ///< do all of its processes rest?
    kAccount,   ///< what do its ranks wait for?
    kProgress,  ///< what has moved, for --hang-after?
    kEnd,       ///< the job is over: its ranks are stuck
    kSignal,    ///< its processes get signal `number`
  };
  Kind kind = Kind::kCheck;
  std::uint32_t number = 0;  ///< the reply has the same
};

struct ControlReply {
  enum class Kind : std::uint8_t {
    kRests,     ///< unasked: all of its processes seem to rest, and will for long
    kChecked,   ///< `holds`: they do; and the sums for two looks to be compared by
    kAccount,   ///< `bytes`, and whether it is complete
    kProgress,  ///< `progress`, and whether all of its ranks have been in MPI since the message before
    kOver,      ///< unasked: all of its processes have ended
  };
  Kind kind = Kind::kRests;
  std::uint32_t number = 0;
  bool holds = false;
  // Sums of its processes, of numbers that only grow. `waiting`: processes that are not done with MPI.
  std::uint64_t waiting = 0, wakes = 0, sent = 0, taken = 0, progress = 0;
  std::string bytes;  ///< a pmi::Account
};

std::string encode(const ControlMessage& message);
std::string encode(const ControlReply& reply);
bool decode(const std::string& bytes, ControlMessage& message);
bool decode(const std::string& bytes, ControlReply& reply);

}  // namespace clump::mpiexec
