// The cores of a rank. A fiber runs on its worker's core, but its share of the cores may be larger. The share
// is what the rank is told, and what threads and programs that it makes may use. It is kept as the affinity
// of the fiber's own kernel thread, which runs nothing.
#pragma once

#include <sched.h>

#include <cstddef>

#include "fiber/identity.h"

namespace clump::image {

/// An affinity mask that is large enough for any machine.
struct Cores {
  static constexpr std::size_t kMost = 8192;
  unsigned char bits[kMost / 8] = {};
  std::size_t bytes = 0;  ///< so many bytes are used by the kernel; 0: the cores are unknown

  int count() const;
};

/// The cores that the calling thread's rank may use, if the caller is a fiber; unknown otherwise.
Cores cores_of_fiber();
/// Makes the calling kernel thread, and those that it makes from now on, use these cores. Does nothing if
/// they are unknown.
void use_cores(const Cores& cores);

/// Called in a child that fork() has made of the calling rank, before the child forgets that it was a fiber.
void keep_cores_after_fork();

/// While one lives, the kernel thread that runs the calling fiber has the fiber's cores, so that threads and
/// processes that it starts inherit them.
class WithCoresOfFiber {
 public:
  WithCoresOfFiber();
  ~WithCoresOfFiber();
  WithCoresOfFiber(const WithCoresOfFiber&) = delete;
  WithCoresOfFiber& operator=(const WithCoresOfFiber&) = delete;

 private:
  Cores before_;
};

/// Sets how many cores the rank is told to have, which is the number of threads that its libraries should
/// start. Before its constructors run.
void set_core_count(fiber::Identity& rank, int cores);
/// The same for the rank's OpenMP, unless the user has set the number of threads. For ranks whose share of
/// the cores is not their affinity, which OpenMP uses. By the rank's main thread, before its main().
void tell_openmp_core_count(fiber::Identity& rank);
/// The result of omp_in_parallel() in the calling thread's rank; 0 if the rank has no OpenMP. Not called by
/// threads that are opening libraries.
int is_in_parallel_region();

}  // namespace clump::image
