#include "process/children/personality.h"

#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

constexpr unsigned long kAsk = 0xffffffff;

int of_thread(unsigned long wanted) { return static_cast<int>(syscall(SYS_personality, wanted)); }

/// The personality that the calling rank has set; negative: it has set none, or is no fiber.
int of_fiber() {
  return captured() && fiber::rank_fiber() != nullptr ? current_image().state().personality : -1;
}

}  // namespace

void keep_personality_after_fork() {
  if (const int mine = of_fiber(); mine >= 0) of_thread(static_cast<unsigned long>(mine));
}

WithPersonalityOfFiber::WithPersonalityOfFiber() {
  const int mine = of_fiber();
  if (mine < 0) return;
  before_ = of_thread(kAsk);
  of_thread(static_cast<unsigned long>(mine));
}

WithPersonalityOfFiber::~WithPersonalityOfFiber() {
  if (before_ < 0) return;
  const int error = errno;
  of_thread(static_cast<unsigned long>(before_));
  errno = error;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int personality(unsigned long wanted) noexcept {
  static constinit Hidden<int(unsigned long)> real{"personality"};
  if (!captured() || clump::fiber::rank_fiber() == nullptr) return real(wanted);
  int& mine = current_image().state().personality;
  const int before = mine >= 0 ? mine : real(kAsk);
  if (wanted != kAsk) mine = static_cast<int>(wanted & 0x7fffffff);
  return before;
}

}  // extern "C"
