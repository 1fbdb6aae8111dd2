// What a host process tells mpiexec about its ranks when it is asked: where each of them is, what it waits
// for, and what lies there that nobody has asked for (docs/decisions/018-who-waits-for-whom.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/types.h"
#include "pmi/control.h"

namespace clump::pmi {

/// Tells communicators apart: the context, and the first rank of the job in it, since one call may make
/// several communicators with one context.
struct CommKey {
  std::uint32_t context = 0;
  std::int32_t first = -1;  ///< -1: not known
  auto operator<=>(const CommKey&) const = default;
};

/// A communicator of a rank that waits.
struct CommFacts {
  CommKey key;
  std::string name;
  std::vector<std::int32_t> members;  ///< ranks of the job, of both groups; empty: all
};

/// How many collectives a rank has begun in a communicator, those that go by messages.
struct Begun {
  std::int32_t rank = 0;
  CommKey comm;
  std::int32_t count = 0;
};

/// One thing that a thread of control waits for.
struct Awaited {
  enum class Kind : std::uint8_t {
    kReceive,
    kProbe,
    kSend,
    kCollective,
    kPartitionedSend,
    kPartitionedReceive,
    kUser,
    kWindow
  };
  static constexpr std::int32_t kAny = -1;  ///< source and tag

  Kind kind = Kind::kUser;
  CommKey comm;
  std::int32_t peer = kAny;  ///< rank of the job
  std::int32_t tag = 0;
  std::int64_t bytes = 0;      ///< of a partitioned send: partitions that are not ready
  std::string call;            ///< of a collective in flight: what has begun it; of a window: what is awaited
  bool holds = false;          ///< of a window: the peer has what is awaited
  std::int32_t sequence = -1;  ///< of a collective by messages: its number in the communicator
  std::vector<std::int32_t> part;  ///< of a collective: these ranks only

  bool operator==(const Awaited&) const = default;
};

/// A thread of control that does not run.
struct Waiter {
  std::int32_t rank = 0;
  std::vector<Frame> frames;  ///< the function of MPI that it is in, if any, and what has called it
  std::vector<Awaited> items;
};

/// Messages that wait for their receive.
struct Unmatched {
  std::int32_t rank = 0;  ///< the receiver
  std::int32_t source = 0;
  std::int32_t tag = 0;
  CommKey comm;
  std::int64_t bytes = 0;
  std::int32_t count = 1;
};

/// A receive that was posted, whoever waits for it.
struct Posted {
  std::int32_t rank = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
  CommKey comm;
  std::int32_t count = 1;
};

struct Standing {
  /// kSilent: its host has not answered. The last three are told of a process that has not: it is stopped, or
  /// the system is taking it away, or nothing is known.
  enum class State : std::uint8_t { kBefore, kUses, kFinalized, kEnded, kSilent, kStopped, kEnds, kMute };
  static bool is_unheard(State state) { return state >= State::kSilent; }
  std::int32_t rank = 0;
  State state = State::kBefore;
  std::string call;         ///< the function of MPI that it has entered last, if that is known
  std::uint64_t moved = 0;  ///< changes whenever a message of it has moved, or a collective has begun
  std::vector<Frame> runs;  ///< where its interpreter runs the program: none or one; read while it ran
};

/// A rank of another job that an account has to do with. Such ranks are not asked.
struct OtherRank {
  /// In the accounts of this job: that of no rank of the job, nor of another OtherRank.
  std::int32_t number = 0;
  std::int32_t rank = 0;  ///< in its own job
  std::uint64_t job = 0;  ///< tells jobs apart
};

struct Account {
  std::vector<Standing> standings;  ///< of all ranks of the process
  std::vector<CommFacts> comms;
  std::vector<Begun> begun;
  std::vector<Waiter> waiters;
  std::vector<Unmatched> unmatched;
  std::vector<Posted> posted;
  std::vector<OtherRank> others;

  void add(Account&& other);
};

std::string encode(const Account& account);
bool decode(std::string_view bytes, Account& account);

/// A part of an account, as it goes through the control socket.
struct AccountNote {
  static constexpr std::size_t kMost = 32 << 10;
  std::int32_t process = 0;
  std::uint32_t question = 0;  ///< which one it answers
  bool is_last = false;
  std::string bytes;
};
std::string encode(const AccountNote& note);
bool decode(const std::string& bytes, AccountNote& note);

}  // namespace clump::pmi
