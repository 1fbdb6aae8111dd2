#include "process/threads/joining.h"

#include <threads.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "base/types.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "image/fork_locks.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

/// The threads of all ranks that have begun and have not ended. The mutex guards all of it.
struct Known {
  ForkMutex mutex;
  ThreadTable<ThreadEnd> running;
  std::uint64_t announced = 0;
  std::uint64_t begun = 0;  ///< with those that were announced and could not be made
  std::uint64_t over = 0;   ///< have ended; with those that could not be made
};

/// Never destroyed: threads may outlive the destructors of this library.
Known& known() {
  static auto& all = *new Known;
  return all;
}

}  // namespace

void ThreadEnd::announce() {
  Known& all = known();
  std::size_t wanted = 0;
  {
    const HeldForProcess lock(all.mutex);
    ++all.announced;
    wanted = all.running.wanted(all.announced - all.over);
  }
  if (wanted == 0) return;
  auto places = ThreadTable<ThreadEnd>::make(wanted);  // freed at the end, also without the lock
  const HeldForProcess lock(all.mutex);
  places = all.running.grow(std::move(places), wanted);
}

void ThreadEnd::withdraw() {
  Known& all = known();
  const HeldForProcess lock(all.mutex);
  ++all.begun;
  ++all.over;
}

void ThreadEnd::begins() {
  Known& all = known();
  const HeldForProcess lock(all.mutex);
  ++all.begun;
  thread_ = pthread_self();
  self_ = base::Ref(this);
  all.running.add(*this);
}

void ThreadEnd::comes() {
  base::Ref<ThreadEnd> kept;
  {
    Known& all = known();
    const HeldForProcess lock(all.mutex);
    ++all.over;
    ThreadTable<ThreadEnd>::remove(*this);
    kept = std::move(self_);
  }
  (void)over_.signal();
}

void ThreadEnd::wait_for(pthread_t thread) {
  // In an explored run no other fiber goes on meanwhile: which one did would depend on how long the thread
  // takes.
  if (fiber::rank_fiber() == nullptr || fiber::exploration::is_on) return;
  base::Ref<ThreadEnd> end;
  Known& all = known();
  // A thread that the caller has just made may not have begun. One that has ended is not found, so the wait
  // for those that have not begun is not longer than for the ones that were announced by now.
  std::uint64_t announced = 0;
  for (bool is_first = true;; is_first = false) {
    {
      const HeldForProcess lock(all.mutex);
      if (is_first) announced = all.announced;
      if (ThreadEnd* const found = all.running.find(thread)) end = base::Ref(found);
      if (end || all.begun >= announced) break;
    }
    fiber::sleep_until(fiber::now() + std::chrono::microseconds(20));
  }
  if (end) end->over_.wait();
}

}  // namespace clump::image

using clump::image::Hidden;
using clump::image::ThreadEnd;

extern "C" {

CLUMP_HOST_API int pthread_join(pthread_t thread, void** result) {
  static constinit Hidden<int(pthread_t, void**)> real{"pthread_join"};
  ThreadEnd::wait_for(thread);
  return real(thread, result);
}

// The C library's own thrd_join does not call pthread_join.
CLUMP_HOST_API int thrd_join(thrd_t thread, int* result) {
  static constinit Hidden<int(thrd_t, int*)> real{"thrd_join"};
  ThreadEnd::wait_for(thread);
  return real(thread, result);
}

}  // extern "C"
