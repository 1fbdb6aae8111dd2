// Control messages: what mpiexec asks and tells each host of the job, and what the host replies and tells
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
    // Only to proxies.
    kStop,     ///< the job has failed elsewhere: its processes shall end soon
    kAddress,  ///< host process `number` is reached at `bytes`
    kAbsent,   ///< host process `number` has ended, and a rank of it never called MPI_Init
    kSpawned,  ///< a pmi::SpawnAnswer to request `number` of this host
    kAllDone,  ///< no host process of the job will use the network any more
  };
  Kind kind = Kind::kCheck;
  std::uint32_t number = 0;  ///< the reply has the same
  std::string bytes = {};
};

struct ControlReply {
  enum class Kind : std::uint8_t {
    kRests,     ///< unasked: all of its processes seem to rest, and will for long
    kChecked,   ///< `holds`: they do; and the sums for two looks to be compared by
    kAccount,   ///< `bytes`, and whether it is complete
    kProgress,  ///< `progress`, and whether all of its ranks have been in MPI since the message before
    kOver,      ///< unasked: all of its processes have ended
    // Only of proxies, unasked.
    kTrouble,   ///< they cannot, as `bytes` says: exit code `number`
    kFails,     ///< one of them has failed: what the others wait for follows from that; kEnded comes.
                ///< Exit code `number`, `cause`
    kEnded,     ///< they have ended, and what they have written is on its way: the same; `bytes`: why
    kAddress,   ///< host process `number`, which is its own, is reached at `bytes`
    kWanted,    ///< the address of host process `number` is wanted
    kAbsent,    ///< host process `number`, its own, has ended, and a rank of it never called MPI_Init
    kDone,      ///< none of its host processes will use the network any more
    kSpawn,     ///< request `number` of this host, a pmi::SpawnRequest: ranks of it spawn a job
    kDeadlock,  ///< the job's only process has found that all ranks wait for each other; kAccount came before
  };
  /// What the failure of a host follows from, the better known first.
  enum class Cause : std::uint8_t {
    kOwn,          ///< its own ranks
    kElsewhere,    ///< those of another host, or a signal that mpiexec passes on, perhaps
    kUnreachable,  ///< a process of another host cannot be reached: it has ended for one of these
  };
  Kind kind = Kind::kRests;
  std::uint32_t number = 0;
  bool holds = false;
  Cause cause = Cause::kOwn;
  // Sums of its processes, of numbers that only grow. `waiting`: processes that are not done with MPI.
  std::uint64_t waiting = 0, wakes = 0, sent = 0, taken = 0, progress = 0;
  std::string bytes;  ///< kAccount: a pmi::Account
};

std::string encode(const ControlMessage& message);
std::string encode(const ControlReply& reply);
bool decode(const std::string& bytes, ControlMessage& message);
bool decode(const std::string& bytes, ControlReply& reply);

}  // namespace clump::mpiexec
