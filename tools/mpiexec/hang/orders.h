// What mpiexec wants of each host of the job, and what a host tells, about who waits for whom
// (docs/decisions/022-deadlocks-over-hosts.md). On one host they are handed over, to others they are sent.
#pragma once

#include <cstdint>
#include <string>

namespace clump::mpiexec {

struct Order {
  enum class Kind : std::uint8_t {
    kCheck,     ///< do all of its processes rest?
    kAccount,   ///< what do its ranks wait for?
    kProgress,  ///< what has moved, for --hang-after?
    kEnd,       ///< the job is over: its ranks are stuck
    kSignal,    ///< its processes get signal `number`
  };
  Kind kind = Kind::kCheck;
  std::uint32_t number = 0;  ///< its answer has the same
};

struct Report {
  enum class Kind : std::uint8_t {
    kRests,     ///< unasked: all of its processes seem to rest, and will for long
    kChecked,   ///< `holds`: they do; and the sums for two looks to be compared by
    kAccount,   ///< `bytes`, and whether it is complete
    kProgress,  ///< `progress`, and whether all of its ranks have been in MPI since the order before
    kOver,      ///< unasked: all of its processes have ended
  };
  Kind kind = Kind::kRests;
  std::uint32_t number = 0;
  bool holds = false;
  // Sums of its processes, of numbers that only grow. `waiting`: processes that are not done with MPI.
  std::uint64_t waiting = 0, wakes = 0, sent = 0, taken = 0, progress = 0;
  std::string bytes;  ///< a pmi::Account
};

std::string encode(const Order& order);
std::string encode(const Report& report);
bool decode(const std::string& bytes, Order& order);
bool decode(const std::string& bytes, Report& report);

}  // namespace clump::mpiexec
