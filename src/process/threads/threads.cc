// Threads that a rank makes belong to the rank: they take its identity, their thread-local variables point
// into its image, and if the rank is a fiber they take over its kernel state.
#include <alloca.h>
#include <pthread.h>
#include <threads.h>

#include <cstdlib>
#include <memory>
#include <new>
#include <tuple>

#include "base/thread_name.h"
#include "base/types.h"
#include "fiber/completion.h"
#include "fiber/fiber.h"
#include "fiber/identity.h"
#include "fiber/kernel_state.h"
#include "fiber/rank_callbacks.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/libc/exit.h"
#include "process/libc/rank_locale.h"
#include "process/signals/signals.h"
#include "process/threads/cores.h"
#include "process/threads/joining.h"
#include "process/threads/thread_directory.h"
#include "process/threads/thread_exit.h"
#include "process/threads/thread_stack.h"

namespace clump::image {
namespace {

/// What a thread takes over from the fiber that makes it. When the thread begins, the fiber's kernel thread
/// may run another rank.
struct Heritage {
  bool from_fiber = false;
  fiber::KernelState* state = nullptr;  ///< a reference is held

  Heritage() {
    const fiber::Fiber* const maker = fiber::rank_fiber();
    if (maker == nullptr) return;
    from_fiber = true;
    state = maker->kernel_state;
    fiber::retain(state);
  }
  Heritage(const Heritage&) = delete;
  Heritage& operator=(const Heritage&) = delete;
  ~Heritage() { fiber::release(state); }

  void take() const {
    if (!from_fiber) return;
    fiber::inherit(state);
    signals::catch_up_with_directory();
  }
};

struct Start {
  void* (*function)(void*);
  int (*c11_function)(void*);
  void* argument;
  fiber::Identity* identity;
  bool has_signal_stack;
  Heritage heritage;
  base::Ref<ThreadEnd> end = base::make_ref<ThreadEnd>();
};

/// What a thread that a rank has made does. Of this thread alone, on its stack.
class Running {
 public:
  explicit Running(Start* start) : start_(start), rank_(start->identity), end_(start->end) {
    // Not by the thread that has made this one: the program may free the memory of the pthread_t as soon as
    // this thread runs.
    end_->begins();
  }

  void* run() {
    run_then_end([](void* running) { static_cast<Running*>(running)->begin(); },
                 [](void* running) { static_cast<Running*>(running)->end(); }, this);
    return result_;
  }

 private:
  void begin() {
    if (rank_ != nullptr) {
      fiber::adopt_identity(rank_);
      if (captured()) {
        image_of(rank_).relocate_thread();
        use_rank_locale();
        base::name_this_thread(fmt::format("rank {} thread", rank_->rank));
      }
      signals::begin_thread();
    }
    start_->heritage.take();
    const auto [function, c11_function, arguments] =
        std::tuple(start_->function, start_->c11_function, start_->argument);
    start_.reset();
    result_ = function != nullptr
                  ? function(arguments)
                  : reinterpret_cast<void*>(static_cast<std::intptr_t>(c11_function(arguments)));
  }

  void end() {
    end_->comes();  // while it counts as awake, so that a thread that waits for it is no deadlock
    signals::end_thread();
    if (rank_ == nullptr) return;
    thread_of_rank_ends(*rank_);
    fiber::thread_ends();
  }

  std::unique_ptr<Start> start_;
  fiber::Identity* rank_;
  base::Ref<ThreadEnd> end_;
  void* result_ = nullptr;
};

void* run_thread(void* argument) {
  auto* const start = static_cast<Start*>(argument);
  const ThreadSignalStack signal_stack(start->has_signal_stack ? alloca(kThreadSignalStack) : nullptr);
  return Running(start).run();
}

/// How many threads of a rank have large guards: all of them, if the rank keeps the threads that it makes, as
/// OpenMP does.
constexpr unsigned kLargeGuards = 32;

ThreadAttributes::Guard guard_of_next_thread(fiber::Identity* identity) {
  if (identity == nullptr || !captured()) return ThreadAttributes::Guard::kGiven;
  const unsigned made = image_of(identity).threads_made.fetch_add(1, std::memory_order_relaxed);
  return made < kLargeGuards ? ThreadAttributes::Guard::kLarge : ThreadAttributes::Guard::kSmall;
}

/// Whether the caller is before all ranks: then a thread belongs to an allocator, and to no rank.
bool before_ranks() { return !captured() && fiber::identity() == nullptr; }

int create_hidden(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  void* argument) {
  static constinit Hidden<int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> real{
      "pthread_create"};
  return real(thread, attributes, function, argument);
}

int create_thread(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                  int (*c11_function)(void*), void* argument) {
  fiber::Identity* const identity = fiber::identity();
  const ThreadAttributes ours(attributes, guard_of_next_thread(identity));
  auto* start = new (std::nothrow)
      Start{function, c11_function, argument, identity, ours.has_room_for_signals(), Heritage()};
  if (start == nullptr) return EAGAIN;
  if (identity != nullptr) {
    fiber::thread_begins();
    fiber::RankCallbacks::has_threads(*identity);
    image_of(identity).threads.fetch_add(1, std::memory_order_relaxed);
  }
  ThreadEnd::announce();
  const int error = [&] {
    // Not by the thread itself: it would have to wait for the worker's core first, on which its maker may
    // spin until it has begun (OpenMP).
    const WithCoresOfFiber cores;
    return create_hidden(thread, ours.get(), &run_thread, start);
  }();
  if (error == 0) return 0;  // the thread has `start`, and may have freed what `thread` points to
  ThreadEnd::withdraw();
  if (identity != nullptr) {
    image_of(identity).threads.fetch_sub(1, std::memory_order_relaxed);
    fiber::thread_ends();
  }
  delete start;
  return error;
}

}  // namespace

void thread_of_rank_ends(fiber::Identity& rank) {
  NoFork::leave_all();
  // acq_rel: pairs with itself: the thread that ends the rank sees what its other threads did.
  if (image_of(&rank).threads.fetch_sub(1, std::memory_order_acq_rel) == 1) std::exit(0);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                  void* (*function)(void*), void* argument) {
  if (before_ranks()) return create_hidden(thread, attributes, function, argument);
  return create_thread(thread, attributes, function, nullptr, argument);
}

// The C library's own thrd_create does not call pthread_create.
CLUMP_HOST_API int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  static constinit Hidden<int(thrd_t*, thrd_start_t, void*)> real{"thrd_create"};
  if (before_ranks()) return real(thread, function, argument);
  switch (create_thread(thread, nullptr, nullptr, function, argument)) {
    case 0:
      return thrd_success;
    case ENOMEM:
    case EAGAIN:
      return thrd_nomem;
    default:
      return thrd_error;
  }
}

}  // extern "C"
