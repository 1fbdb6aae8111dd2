// Conflicting accesses to a window (mpiexec --check; MPI-5.0 section 12.7): two operations on the same bytes
// of a rank, of which one changes them, with nothing between them that orders them. Both being accumulates
// with one datatype is no conflict, and neither is two gets.
//
// The ranks of a process keep their accesses here from the call until what ends them:
//
//   after a fence           the next fence, which all ranks of the window call
//   after MPI_Win_start     the target's MPI_Win_wait; the origin's MPI_Win_complete, if the target is
//   elsewhere with a lock             the origin's unlock or flush
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

/// An access that is not ended yet.
struct OpenAccess {
  enum class Kind : std::uint8_t { kPut, kGet, kAccumulate };
  Kind kind;
  int origin;
  datatype::Layout place;   ///< at the target; addresses count from where its memory begins
  datatype::Ref type = {};  ///< keeps that of `place`
  const datatype::Datatype* element = nullptr;  ///< of accumulates
  std::uint64_t fence = 0;                      ///< which fence it follows; 0: none
  bool started = false;                         ///< after MPI_Win_start
  core::Site site = {};
};

class Conflicts {
 public:
  explicit Conflicts(int ranks) : targets_(static_cast<std::size_t>(ranks)) {}

  /// Adds an access to a rank. If one that is open conflicts with it, returns that one and adds nothing.
  std::optional<OpenAccess> add(int target, OpenAccess access);
  /// The accesses of an origin to a target (negative: to all) are ended.
  void end(int origin, int target);
  /// All accesses to a target that follow MPI_Win_start are.
  void end_started(int target);

 private:
  struct Accesses {
    std::multimap<std::intptr_t, OpenAccess> open;  // by their first byte
    std::intptr_t longest = 0;
  };
  // Columns of a matrix lie between each other, so several may have to be compared.
  static constexpr int kMostCompared = 64;
  // What comes when so many are open is not looked at.
  static constexpr std::size_t kMostOpen = std::size_t{1} << 18;

  std::mutex mutex_;
  std::vector<Accesses> targets_;
};

}  // namespace clump::rma
