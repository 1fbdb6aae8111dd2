#include "fiber/fiber.h"

#include <dlfcn.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <memory>
#include <mutex>

#include "fiber/awake_threads.h"
#include "fiber/core_watch.h"
#include "fiber/exploration.h"
#include "fiber/facts.h"
#include "fiber/kernel_state.h"
#include "fiber/monitor.h"
#include "fiber/process_cores.h"
#include "fiber/processor_time.h"
#include "fiber/rank_callbacks.h"
#include "fiber/switch.h"
#include "fiber/worker.h"
#include "fiber/world_stop.h"

/// The stack pointer of kernel threads that fibers have left (context_*.S).
extern "C" [[gnu::visibility("hidden")]] char clump_parked_stack;

extern "C" [[gnu::weak]] void __tsan_init();
extern "C" [[gnu::weak]] void __lsan_ignore_object(const void*);

namespace clump::fiber {

namespace detail {
constinit thread_local Fiber* this_fiber = nullptr;
}

namespace {

constexpr std::size_t kWorkerThreadStackBytes = 256 << 10;

void (*prepare_kernel_thread)() = nullptr;
std::mutex fibers_lock;
std::vector<Fiber*>& fibers() {
  static auto& all = *new std::vector<Fiber*>;
  return all;
}

}  // namespace

bool make_workers(const std::vector<std::int32_t>& cores, int fibers, void (*prepare)()) {
  prepare_contexts();
  note_beginning();
  // Sections, and worker threads that fall asleep, need barrier_everywhere().
  if (::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) != 0) return false;
  prepare_kernel_thread = prepare;
  workers = {new Worker[cores.size()], cores.size()};
  for (std::size_t i = 0; i < cores.size(); ++i) {
    workers[i].index = static_cast<int>(i);
    workers[i].core = cores[i];
    workers[i].queue.reserve(static_cast<std::size_t>(fibers), cores.size() == 1);
    workers[i].switches_to_look = exploration::is_on ? 0 : kSwitchesPerPoll - 1;
  }
  return true;
}

bool start_workers() {
  for (Worker& worker : workers) {
    auto* const worker_thread = new WorkerThread(&worker);
    worker.worker_thread.store(worker_thread, std::memory_order_release);
    awake_threads::one_awake();
    if (!worker_thread->start()) return false;
  }
  return exploration::is_on || monitor::start();
}

void become_fiber(int home, Identity* rank) {
  auto* const self = new Fiber;  // never freed: other threads may use it until the process ends
  self->home = home;
  self->rank = rank;
  if (rank != nullptr) rank->home = home;
  self->context.thread_pointer = __builtin_thread_pointer();
  detail::this_fiber = self;
  {
    const std::lock_guard guard(fibers_lock);
    fibers().push_back(self);
  }
  prepare_to_be_left();
  Worker& worker = workers[static_cast<std::size_t>(home)];
  worker.inbox.push(*self, std::memory_order_seq_cst);
  worker.wake();
  awake_threads::becomes_fiber();
  arrive(*self, clump_leave_kernel_thread(&self->context, &self->in_use));
  detail::stay_while_stopped();
  if (keeps_processor_time()) detail::begin_turn();
}

Fiber* rank_fiber() noexcept {
  Fiber* const self = this_fiber();
  return self != nullptr && self->worker_thread != nullptr && self != &self->worker_thread->idle ? self
                                                                                                 : nullptr;
}

int worker_count() noexcept { return static_cast<int>(workers.size()); }

bool yield() {
  Fiber* const self = this_fiber();
  if (self == nullptr) return ::syscall(SYS_sched_yield) != 0;
  if (exploration::is_on) return exploration::step_aside(*self), true;
  {
    const Section section;
    const Worker* const worker = section.worker();
    if (worker != nullptr && !worker->has_runnable() && !progress(worker->index)) return false;
  }
  const bool is_watched = CoreWatch::watch != nullptr && RankCallbacks::watched_here();
  const std::uint64_t since = is_watched ? CoreWatch::watch->now() : 0;
  make_runnable(*self);
  switch_out(*self);
  if (is_watched) CoreWatch::watch->had_no_core(since);
  return true;
}

bool yield_to_all() {
  const bool yielded = yield();
  if (!cores_are_offered && !cores_are_wanted()) return yielded;
  give_core_away();
  return true;
}

void sleep_until(std::chrono::steady_clock::time_point when) {
  Fiber* const self = this_fiber();
  if (self != nullptr && exploration::is_on) return exploration::sleep_until(*self, when);
  if (self != nullptr) {
    self->wake_at = when;
    monitor::add_sleeper(*self);
    return make_room_for_idle(*self);
  }
  const auto since_start = when.time_since_epoch();
  const timespec time{static_cast<time_t>(since_start / std::chrono::seconds(1)),
                      static_cast<long>((since_start % std::chrono::seconds(1)).count())};
  while (::syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &time, nullptr) != 0 &&
         errno == EINTR) {
  }
}

std::chrono::steady_clock::time_point now() {
  return exploration::is_on ? exploration::now() : std::chrono::steady_clock::now();
}

void end_here() {
  Fiber* const self = this_fiber();
  if (self == nullptr) {
    thread_ends();
    for (;;) ::syscall(SYS_ppoll, nullptr, 0, nullptr, nullptr, 0);
  }
  self->over.store(true, std::memory_order_relaxed);
  awake_threads::fiber_ends();
  for (;;) switch_out(*self);
}

void forget_fibers() noexcept {
  detail::this_fiber = nullptr;
  forget_own_kernel_thread();
}

std::vector<base::Fact> facts() {
  return {{"fibers", reinterpret_cast<std::uint64_t>(&fibers())},
          {"fiber_stack", offsetof(Fiber, context) + offsetof(Context, stack)},
          {"fiber_thread_pointer", offsetof(Fiber, context) + offsetof(Context, thread_pointer)},
          {"fiber_rank", offsetof(Fiber, rank)},
          {"fiber_in_use", offsetof(Fiber, in_use)},
          {"parked_stack", reinterpret_cast<std::uint64_t>(&clump_parked_stack)}};
}

void for_each_fiber(const std::function<void(const Fiber&)>& visit) {
  const std::lock_guard guard(fibers_lock);
  for (const Fiber* const fiber : fibers()) visit(*fiber);
}

namespace {

struct ServiceThread {
  void* (*body)(void*);
  void* argument;
};

/// Counts the thread while it is certainly there: a comparison with all threads of the process must not take
/// one of the program's for it.
void* serve(void* argument) {
  awake_threads::service_thread_begins();
  use_cores_of_process();  // it has inherited those of the rank or worker that has made it
  // Freed at the end only: a thread that calls free() gets an arena of malloc's, 64 MB of address space.
  const std::unique_ptr<ServiceThread> thread(static_cast<ServiceThread*>(argument));
  void* const result = thread->body(thread->argument);
  awake_threads::service_thread_ends();
  return result;
}

}  // namespace

bool start_kernel_thread(void* (*body)(void*), void* argument) {
  // The pthread_create of the process layer would make a thread of the calling rank.
  using Create = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  // If mpiexec has not preloaded this library, the C library comes before it.
  static const auto create = [] {
    // A sanitizer has to know of every thread that allocates. Its pthread_create comes before all others and
    // calls that of the process layer; the caller belongs to no rank meanwhile.
    void* const next = __tsan_init != nullptr ? nullptr : ::dlsym(RTLD_NEXT, "pthread_create");
    return reinterpret_cast<Create>(next != nullptr ? next : ::dlsym(RTLD_DEFAULT, "pthread_create"));
  }();
  int error = EINVAL;
  Identity* const maker = detail::current_identity;
  adopt_identity(nullptr);
  auto service = std::make_unique<ServiceThread>(ServiceThread{body, argument});
  // LeakSanitizer does not scan the stack of a thread that it has not seen begin.
  if (__lsan_ignore_object != nullptr) __lsan_ignore_object(service.get());
  // The larger size is for thread-local variables of the program, or of a sanitizer, that need it.
  for (const std::size_t stack : {kWorkerThreadStackBytes, 64 * kWorkerThreadStackBytes}) {
    pthread_attr_t attributes;
    ::pthread_attr_init(&attributes);
    ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    ::pthread_attr_setstacksize(&attributes, stack);
    pthread_t thread;
    if (error == EINVAL) error = create(&thread, &attributes, serve, service.get());
    ::pthread_attr_destroy(&attributes);
  }
  if (error == 0) static_cast<void>(service.release());
  adopt_identity(maker);
  errno = error;
  return error == 0;
}

void prepare_worker_thread() {
  if (prepare_kernel_thread != nullptr) prepare_kernel_thread();
}

void bind_to_core(int core) {
  if (core < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::syscall(SYS_sched_setaffinity, 0, sizeof set, &set);  // if it fails, the kernel chooses the cores, which
                                                          // does no harm
}

}  // namespace clump::fiber
