#include "fiber/interrupt.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/process.h"
#include "fiber/completion.h"
#include "fiber/exploration.h"
#include "fiber/monitor.h"
#include "fiber/worker.h"

namespace clump::fiber {

namespace detail {
constinit std::atomic<void (*)()> wake_function{nullptr};
}  // namespace detail

bool interrupt(const Fiber& fiber, int signal) noexcept {
  if (fiber.left_behind()) return false;
  // Written by the kernel thread that resumes the fiber. Worker threads live as long as the process.
  const WorkerThread* const worker_thread = __atomic_load_n(&fiber.worker_thread, __ATOMIC_RELAXED);
  const pid_t thread =
      worker_thread != nullptr ? worker_thread->kernel_thread.load(std::memory_order_relaxed) : 0;
  if (thread == 0) return false;
  const int error = errno;
  const bool sent = ::syscall(SYS_tgkill, base::process_id(), thread, signal) == 0;
  errno = error;
  return sent;
}

void wake_to_attend(Fiber& fiber) {
  if (exploration::is_on) return;  // exploration draws which fiber goes on
  if (monitor::wake_early(fiber)) return;
  // acquire: pairs with the release in WaiterPool::take().
  if (Waiter* const waiter = fiber.waiter.load(std::memory_order_acquire)) waiter->unpark();
}

void on_wake(void (*call)()) { detail::wake_function.store(call, std::memory_order_release); }

bool in_section() noexcept {
  const Fiber* const self = this_fiber();
  return self != nullptr && self->worker_thread != nullptr &&
         self->worker_thread->sections.load(std::memory_order_relaxed) != 0;
}

}  // namespace clump::fiber
