// Conflicting accesses to a window (mpiexec --check; MPI-5.0 section 12.7): two operations on the same bytes
// of a rank, of which one changes them, with nothing between them that orders them. Both being accumulates
// with one datatype is no conflict.
//
// The ranks of a process keep their accesses here. From its call on, an access is open until
//
//   after a fence           the next fence, which all ranks of the window call
//   after MPI_Win_start     the target's MPI_Win_wait; the origin's MPI_Win_complete, if the target is
//   elsewhere with a lock             the origin's unlock or flush; if it reads only, what completes it
//   locally
//
// Afterwards it is over, and still not ordered before an access of another rank, unless that rank may have
// learnt of it: the origin has called something by which others learn (Telling::told), all ranks of the job
// have met (Telling::joined), a lock has excluded one of them, or the owner, whose access it is, has
// synchronised its memory since. So two puts with shared locks conflict in whatever order they come.
//
// Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "core/site.h"
#include "datatype/datatype.h"
#include "datatype/overlap.h"

namespace clump::rma {

/// A rank's counters at some time.
struct Learnt {
  std::uint64_t told = 0, joined = 0;
  static Learnt of(const core::Telling& rank) {
    return {rank.told.load(std::memory_order_relaxed), rank.joined.load(std::memory_order_relaxed)};
  }
};

struct OpenAccess {
  /// kFetch: MPI_NO_OP. kLoad, kStore: by a call of the owner that reads or writes its own memory.
  enum class Kind : std::uint8_t { kPut, kGet, kAccumulate, kFetch, kLoad, kStore };
  enum class Lock : std::uint8_t { kNone, kShared, kExclusive };
  Kind kind;
  int origin;
  const core::Telling* by = nullptr;  ///< the origin's, which lives as long as the process
  datatype::Layout place;             ///< at the target; addresses count from where its memory begins
  datatype::Ref type = {};            ///< keeps that of `place`
  const datatype::Datatype* element = nullptr;  ///< of kAccumulate and kFetch
  std::uint64_t fence = 0;                      ///< how many fences the origin has called before
  bool started = false;                         ///< after MPI_Win_start
  Lock lock = Lock::kNone;
  std::uint64_t operation = 0;  ///< the number of the origin's operation
  core::Site site = {};

  bool is_over = false;
  Learnt since = {};  ///< when it was over
  /// How often the owner had synchronised its memory, and taken its own lock, when the access began.
  std::uint64_t syncs = 0, locks = 0;

  bool is_owners() const { return kind == Kind::kLoad || kind == Kind::kStore; }
  bool reads_only() const { return kind == Kind::kGet || kind == Kind::kFetch || kind == Kind::kLoad; }
};

class Conflicts {
 public:
  explicit Conflicts(int ranks) : targets_(static_cast<std::size_t>(ranks)) {}

  /// Adds an access to a rank. If another one conflicts with it, returns that one and adds nothing.
  std::optional<OpenAccess> add(int target, OpenAccess access);
  /// The accesses of an origin to a target (negative: to all) are over. It has called so many fences.
  enum class Which : std::uint8_t { kAll, kReads };
  void end(const core::Telling& by, int origin, int target, std::uint64_t fences, Which which = Which::kAll);
  /// An operation of the origin is complete, and with it what it has read.
  void end_operation(const core::Telling& by, int origin, std::uint64_t operation);
  /// All accesses to a target that follow MPI_Win_start are ordered.
  void end_started(int target);

  /// add() without adding it.
  std::optional<OpenAccess> find(int target, const OpenAccess& access);

  /// A rank says by MPI_MODE_NOPUT that nothing is put into its memory: after the fence of this number, or
  /// until its MPI_Win_wait.
  struct NoPuts {
    core::Site site;
    std::uint64_t fence = 0;
    bool posted = false;
  };
  void promise_no_puts(int target, const NoPuts& promise);
  /// Where the target has called what forbids the access, if it has.
  std::optional<core::Site> broken_promise(int target, const OpenAccess& access);

  /// The owner has synchronised its memory (MPI_Win_sync, a lock of its own rank), or has only taken its own
  /// lock among those of all.
  void synchronised(int owner);
  void locked(int owner);

 private:
  struct Accesses {
    std::multimap<std::intptr_t, OpenAccess> all;  // by their first byte
    std::intptr_t longest = 0;
    std::uint64_t syncs = 0, locks = 0;
    std::optional<NoPuts> no_puts;
    /// When there are so many, those that others may have learnt of are removed.
    std::size_t sweep_at = kFirstSweep;
  };
  Accesses& at(int target) { return targets_[static_cast<std::size_t>(target)]; }
  static const OpenAccess* find(const Accesses& there, const OpenAccess& access);
  static bool are_ordered(const OpenAccess& first, const OpenAccess& second, const Accesses& owner);
  // Columns of a matrix lie between each other, so several may have to be compared.
  static constexpr int kMostCompared = 64;
  // What comes when so many are open is not looked at.
  static constexpr std::size_t kMostOpen = std::size_t{1} << 18;
  static constexpr std::size_t kFirstSweep = 256;

  std::mutex mutex_;
  std::vector<Accesses> targets_;
};

}  // namespace clump::rma
