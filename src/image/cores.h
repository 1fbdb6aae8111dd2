// The cores of a rank. A fiber runs on its worker's core; its share may be more, and that is what the rank is
// told, and what threads and programs that it makes may use. A fiber's own kernel thread, which runs nothing,
// has the share as its affinity: that is where it is kept.
#pragma once

#include <sched.h>

#include <cstddef>

namespace clump::image {

/// An affinity mask that is large enough for any machine.
struct Cores {
  static constexpr std::size_t kMost = 8192;
  unsigned char bits[kMost / 8] = {};
  std::size_t bytes = 0;  ///< how many the kernel uses; 0: unknown

  int count() const;
};

/// Those that the calling thread's rank may use, if it is a fiber; unknown otherwise.
Cores cores_of_fiber();
/// Makes the calling kernel thread, and those that it makes from now on, use them. Does nothing if unknown.
void use_cores(const Cores& cores);

/// In a child that fork() has made of the calling rank, before it forgets that it was a fiber.
void keep_cores_after_fork();

/// While it lives, the kernel thread that runs the calling fiber has the fiber's cores: what it starts
/// inherits them.
class WithCoresOfFiber {
 public:
  WithCoresOfFiber();
  ~WithCoresOfFiber();
  WithCoresOfFiber(const WithCoresOfFiber&) = delete;
  WithCoresOfFiber& operator=(const WithCoresOfFiber&) = delete;

 private:
  Cores before_;
};

}  // namespace clump::image
