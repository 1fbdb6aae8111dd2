// An Identity tells for which rank a thread works. Every thread of a host process finds its own with one
// load.
//
// The runtime makes an Identity before its rank starts; it lives until the process ends. Threads that a rank
// makes (pthread_create, std::thread, OpenMP) inherit it: see process/threads/threads.cc.
#pragma once

#include <atomic>

#include "base/counter.h"
#include "base/types.h"

namespace clump::core {
class Rank;
}

namespace clump::fiber {

class RankCallbacks;

struct Identity {
  int rank = 0;  ///< its number in the job
  /// Of a rank that was spawned (core/launch.h): with which others, from 1 on, and its rank in their
  /// MPI_COMM_WORLD. In launch 0 that is `rank`.
  int launch = 0, launch_rank = 0;
  /// Owned and set by libmpi_abi; null until this rank first needs it.
  std::atomic<core::Rank*> mpi{nullptr};
  /// Whether the rank may have, or may have had, more than one thread. A rank's only thread sets it before it
  /// makes another one: RankCallbacks::has_threads().
  std::atomic<bool> threaded{true};
  int home = -1;  ///< the worker of its main thread, set when that becomes a fiber; -1: there are no workers
  RankCallbacks* callbacks = nullptr;  ///< set with `mpi`; see rank_callbacks.h
  void* image = nullptr;  ///< owned and set by the image layer; null where ranks have no image of their own
  // Events of the rank's main thread of control; see meters.h.
  base::Counter taken;  ///< written by the worker thread that takes it
  base::Counter stuck;  ///< written by the monitor
  /// Whether the rank's fiber may have to be woken in the middle of waits: see RankCallbacks::park().
  std::atomic<bool> parks{false};
};

namespace detail {
CLUMP_HOST_API extern constinit thread_local Identity* current_identity;
CLUMP_HOST_API extern Identity* default_identity;
}  // namespace detail

/// The rank that the calling thread works for; null for a thread that belongs to none. In a process with one
/// rank only, every thread belongs to that rank.
inline Identity* identity() noexcept {
  Identity* mine = detail::current_identity;
  return mine != nullptr ? mine : detail::default_identity;
}

/// Makes the calling thread a thread of `identity`.
inline void adopt_identity(Identity* identity) noexcept { detail::current_identity = identity; }

/// Makes every thread that has no other identity a thread of `identity` (a job with one rank in this
/// process).
inline void set_default_identity(Identity* identity) noexcept { detail::default_identity = identity; }

}  // namespace clump::fiber
