// Collective calls of one communicator come one after the other (MPI-5.0 section 6.14): a rank whose threads
// are in two of them at a time is told so, before the second one touches what the first one uses.
//
//   const Turn turn({"comm", comm}, *the_comm, call.name);
//   CLUMP_TRY(turn.outcome());
//
// Calls that do not block are in question only while they are being made. A rank that has one thread looks at
// Rank::is_alone() and goes on; one that has several notes in the communicator which thread is there.
#pragma once

#include <pthread.h>

#include "base/ref.h"
#include "base/status.h"
#include "core/comm.h"
#include "core/rank.h"
#include "mpi/entry/entry_checks.h"

namespace clump::mpi {

class Turn {
 public:
  /// Whether a rank that is alone in the communicator may be in several calls of this kind.
  enum class Alone : bool { kTakesTurns, kFree };

  [[gnu::always_inline]] Turn(Named<MPI_Comm> argument, core::Comm& comm, const char* call,
                              Alone alone = Alone::kTakesTurns) {
    if (comm.owner.is_alone()) [[likely]]
      return;
    if (alone == Alone::kTakesTurns || comm.group->size() > 1) taken_ = take(argument, comm, call);
  }
  [[gnu::always_inline]] ~Turn() {
    if (taken_.comm != nullptr) [[unlikely]]
      give_back(taken_.comm);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  /// Fails if another thread has it.
  base::Status outcome() const { return taken_.outcome; }

 private:
  /// Two registers, as nobody has the address of a Turn.
  struct Taken {
    core::Comm* comm =
        nullptr;  ///< a reference of its own, as the call may free it; null: nothing to give back
    base::Status outcome;
  };
  [[gnu::noinline]] static Taken take(Named<MPI_Comm> argument, core::Comm& comm, const char* call);
  [[gnu::noinline]] static void give_back(core::Comm* comm);

  Taken taken_;
};

}  // namespace clump::mpi
