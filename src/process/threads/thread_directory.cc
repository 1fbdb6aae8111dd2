#include "process/threads/thread_directory.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "fiber/directory.h"
#include "fiber/fiber.h"
#include "image/rank_image.h"
#include "process/children/children.h"
#include "process/refusal.h"

namespace clump::image::signals {
namespace {

/// After so many checks a thread that has not answered is interrupted again.
constexpr int kLooks = 64;
constexpr timespec kBetweenLooks{0, 20'000};

bool is_to_take(const Thread& thread) {
  // acquire: pairs with the release in take_directory(): the thread has the directory.
  return thread.fiber == nullptr && thread.directory.load(std::memory_order_acquire) != nullptr;
}

/// Interrupts the threads that have not taken over the directory; whether there are any. With the Guard.
bool interrupt_all(const SignalState& state) {
  bool any = false;
  for (const Thread* thread = state.threads; thread != nullptr; thread = thread->next) {
    if (!is_to_take(*thread)) continue;
    any = true;
    ::syscall(SYS_tgkill, ::syscall(SYS_getpid), thread->number, kRestart);
  }
  return any;
}

bool is_any_to_take(const SignalState& state) {
  for (const Thread* thread = state.threads; thread != nullptr; thread = thread->next)
    if (is_to_take(*thread)) return true;
  return false;
}

}  // namespace

void tell_threads() {
  Image& image = current_image();
  if (!is_ours() || image.threads_made.load(std::memory_order_relaxed) == 0) return;
  const int error = errno;
  SignalState& state = state_of(*image.identity());
  fiber::KernelState* const wanted = fiber::rank_fiber()->kernel_state;
  {
    const Guard guard;
    fiber::retain(wanted);
    fiber::release(std::exchange(state.directory, wanted));
    state.has_directory = true;
    for (Thread* thread = state.threads; thread != nullptr; thread = thread->next)
      if (thread->fiber == nullptr)
        thread->directory.store(&state, std::memory_order_release);  // release: pairs with take_directory()
  }
  for (int look = 0;; ++look) {
    {
      const Guard guard;  // threads that end leave the list with the Guard
      if (look % kLooks == 0 ? !interrupt_all(state) : !is_any_to_take(state)) break;
    }
    ::syscall(SYS_nanosleep, &kBetweenLooks, nullptr);
  }
  errno = error;
}

void take_directory(Thread& self) noexcept {
  // acquire: pairs with the release in tell_threads(), which waits for this thread: the state does not change
  // meanwhile.
  const SignalState* const state = self.directory.load(std::memory_order_acquire);
  if (state == nullptr) return;
  fiber::enter_as(state->directory);
  self.directory.store(nullptr, std::memory_order_release);  // release: pairs with tell_threads()
}

void catch_up_with_directory() noexcept {
  Thread& self = mine();
  if (self.rank == nullptr) return;
  const Guard guard;
  const SignalState& state = state_of(*self.rank);
  if (state.has_directory) fiber::enter_as(state.directory);
}

void refuse_change_by_thread(const char* call) {
  const fiber::Identity* const rank = fiber::identity();
  if (rank == nullptr || rank->home < 0 || !records_children()) return;
  refuse(std::string(call) + " by a thread that the rank has made",
         "changes the kernel thread only, and not the directory and the file mode mask of the process");
}

}  // namespace clump::image::signals
