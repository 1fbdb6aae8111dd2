// The execution domain of a rank (personality(2)). It takes effect when a program is started. The kernel
// keeps it for each thread. A fiber's is kept here, and the programs that the fiber starts get it.
#pragma once

namespace clump::image {

/// Called in a child that fork() has made of the calling rank, before the child forgets that it was a fiber.
void keep_personality_after_fork();

/// While one lives, the kernel thread that runs the calling fiber has the fiber's personality.
class WithPersonalityOfFiber {
 public:
  WithPersonalityOfFiber();
  ~WithPersonalityOfFiber();
  WithPersonalityOfFiber(const WithPersonalityOfFiber&) = delete;
  WithPersonalityOfFiber& operator=(const WithPersonalityOfFiber&) = delete;

 private:
  int before_ = -1;  ///< -1: nothing was changed
};

}  // namespace clump::image
