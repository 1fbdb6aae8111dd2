#include "image/joining.h"

#include <threads.h>

#include <mutex>
#include <unordered_map>

#include "base/types.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "image/fork_locks.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

struct Known {
  ForkMutex mutex;
  std::unordered_map<pthread_t, base::Ref<ThreadEnd>> threads;
};

/// Never destroyed: threads may outlive the destructors of this library.
Known& known() {
  static auto& all = *new Known;
  return all;
}

}  // namespace

void ThreadEnd::is_of(pthread_t thread) {
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  if (ended_) return;
  thread_ = thread;
  known_ = true;
  all.threads[thread] = base::Ref(this);
}

void ThreadEnd::comes() {
  {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    ended_ = true;
    if (known_) all.threads.erase(thread_);
  }
  (void)over_.signal();
}

void ThreadEnd::wait_for(pthread_t thread) {
  // In an explored run no other fiber goes on meanwhile: which one did would depend on how long the thread
  // takes.
  if (fiber::rank_fiber() == nullptr || fiber::exploration::is_on) return;
  base::Ref<ThreadEnd> end;
  {
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    if (const auto found = all.threads.find(thread); found != all.threads.end()) end = found->second;
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
