// Worker threads and the monitor that go to sleep at the worst moment. The test's own syscall() and
// pthread_attr_init() come before those of the C library, and hold a thread where another one has to overtake
// it. Each test is a process of its own: workers stay.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <string>
#include <thread>
#include <utility>

#include "fiber/awake_threads.h"
#include "fiber/completion.h"
#include "fiber/fiber.h"
#include "fiber/monitor.h"
#include "fiber/progress_sleeper.h"
#include "fiber/worker.h"

namespace clump::fiber {
namespace {

using Clock = std::chrono::steady_clock;

using Call = long (*)(long, ...);
Call real_syscall() {
  static const auto real = reinterpret_cast<Call>(::dlsym(RTLD_NEXT, "syscall"));
  return real;
}
pid_t this_thread() { return static_cast<pid_t>(real_syscall()(SYS_gettid)); }

/// Returns when `condition` is true; ends the test if that takes much longer than it can.
template <typename Condition>
void await(const char* what, Condition condition) {
  const auto end = Clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (Clock::now() > end) {
      std::fprintf(stderr, "never: %s\n", what);
      ::_exit(2);
    }
    sched_yield();
  }
}

/// Whether a kernel thread of this process sleeps in the kernel.
bool sleeps(pid_t thread) {
  const std::string path = "/proc/self/task/" + std::to_string(thread) + "/stat";
  std::FILE* const file = std::fopen(path.c_str(), "r");
  if (file == nullptr) return false;
  char state = ' ';
  const bool read = std::fscanf(file, "%*d (%*[^)]) %c", &state) == 1;
  std::fclose(file);
  return read && state == 'S';
}

/// What the calls of this file hold, and what they have seen. A futex is waited for "for long" without a
/// limit.
enum class Late { kNever, kBeforeItSleeps, kAfterItWasWoken };
std::atomic<Late> late{Late::kNever};  ///< where the first worker thread is held
std::atomic<pid_t> first{0};           ///< its number
std::atomic<bool> first_is_there{false}, first_goes_on{false}, first_is_spare{false};
std::atomic<int> naps_of_next{0}, long_sleeps_of_next{0};  ///< of the worker thread that has replaced it
std::atomic<bool> monitor_waits_for_long{false};
void (*before_a_thread_is_made)() = nullptr;  ///< called by the monitor

long wait_at_worker(const long (&a)[6]) {
  const auto call = [&] { return real_syscall()(SYS_futex, a[0], a[1], a[2], a[3], a[4], a[5]); };
  const bool for_long = a[3] == 0;
  if (late.load() == Late::kNever) return call();
  if (this_thread() != first.load()) {
    if (++(for_long ? long_sleeps_of_next : naps_of_next) == 1 && !for_long)
      await("the first worker thread is a spare, or sleeps again",
            [] { return first_is_spare.load() || (first_goes_on.load() && sleeps(first.load())); });
    return call();
  }
  if (!for_long || first_is_there.exchange(true)) return call();
  const auto hold = [] {
    await("the next worker thread is about to nap", [] { return naps_of_next.load() > 0; });
    first_goes_on = true;
  };
  if (late.load() == Late::kBeforeItSleeps) {
    hold();
    return call();
  }
  const long result = call();
  hold();
  return result;
}

// Fibers.

void make_fiber(void* (*body)(void*)) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  thread_begins();
  pthread_t thread;
  if (pthread_create(&thread, nullptr, body, nullptr) != 0) ::_exit(3);
  pthread_detach(thread);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::atomic<int> woken{0};
std::atomic<bool> may_wait{false};
Completion waited_for[2];

void begin() {
  ::alarm(60);
  if (!make_workers({-1}, 8, nullptr) || !start_workers()) ::_exit(4);
}

bool monitor_sleeps_for_long() { return monitor_waits_for_long.load() && sleeps(monitor::thread()); }

/// A worker thread is asleep while the monitor takes its worker away, and is late there. Exit code 0:
/// afterwards the worker sleeps, as a whole, and wakes.
[[noreturn]] void lose_worker_while_asleep(Late where) {
  static const Late place = where;
  before_a_thread_is_made = [] {
    may_wait = true;  // so that the first worker thread has nothing to run
    await("the first worker thread sleeps for long",
          [] { return first_is_there.load() && (place == Late::kBeforeItSleeps || sleeps(first.load())); });
  };
  begin();
  WorkerThread* const thread = workers[0].worker_thread.load();
  await("the worker thread begins", [&] { return thread->kernel_thread.load() != 0; });
  first = thread->kernel_thread.load();
  static std::atomic<bool> keeps_worker{false};
  make_fiber([](void*) -> void* {
    become_fiber(0, nullptr);
    keeps_worker = true;
    while (!may_wait.load()) {
    }
    waited_for[0].wait();
    ++woken;
    end_here();
  });
  await("a fiber keeps the worker", [] { return keeps_worker.load(); });
  late = place;
  make_fiber([](void*) -> void* {
    become_fiber(0, nullptr);
    waited_for[1].wait();
    ++woken;
    end_here();
  });
  await("the next worker thread sleeps for long", [] { return long_sleeps_of_next.load() > 0; });
  await("all sleep, and are counted so", [] { return threads_awake() == 0; });
  thread_begins();  // this thread is awake, so what follows is no deadlock
  waited_for[0].signal();
  await("the first fiber goes on", [] { return woken.load() == 1; });
  waited_for[1].signal();
  await("the second fiber goes on", [] { return woken.load() == 2; });
  ::_exit(0);
}

TEST(WorkerSleep, AThreadThatLosesItsWorkerBeforeItSleepsLeavesTheWakeUpsToTheNext) {
  EXPECT_EXIT(lose_worker_while_asleep(Late::kBeforeItSleeps), testing::ExitedWithCode(0), "");
}

TEST(WorkerSleep, AThreadThatLosesItsWorkerInItsSleepLeavesTheWakeUpsToTheNext) {
  EXPECT_EXIT(lose_worker_while_asleep(Late::kAfterItWasWoken), testing::ExitedWithCode(0), "");
}

/// A worker is about to sleep, so the monitor goes to sleep; then the worker finds two fibers to run, and the
/// first computes until the second has run. Exit code 0: the monitor takes the worker away.
[[noreturn]] void find_work_while_the_monitor_goes_to_sleep() {
  static std::atomic<int> waiting{0};
  static std::atomic<bool> second_ran{false}, first_done{false};
  on_progress([](int) {
    static std::atomic<bool> brought{false};
    if (waiting.load() < 2 || workers[0].asleep->load() == 0 || this_fiber() == nullptr) return false;
    if (brought.exchange(true)) return false;
    await("the monitor sleeps for long", monitor_sleeps_for_long);
    for (Completion& completion : waited_for) completion.signal();
    return true;
  });
  begin();
  for (const int i : {0, 1})
    make_fiber(i == 0 ? +[](void*) -> void* {
      become_fiber(0, nullptr);
      ++waiting;
      waited_for[0].wait();
      while (!second_ran.load()) {
      }
      first_done = true;
      end_here();
    } : +[](void*) -> void* {
      become_fiber(0, nullptr);
      ++waiting;
      waited_for[1].wait();
      second_ran = true;
      end_here();
    });
  await("both fibers end", [] { return first_done.load(); });
  ::_exit(0);
}

TEST(WorkerSleep, AWorkerThatFindsWorkAtItsLastLookWakesTheMonitor) {
  EXPECT_EXIT(find_work_while_the_monitor_goes_to_sleep(), testing::ExitedWithCode(0), "");
}

std::atomic<int> naps{0}, long_sleeps{0}, barriers{0};  ///< of the first worker's threads; of all threads

/// Each membarrier interrupts all cores on which the process computes.
void sleep_with_nothing_to_do() {
  begin();
  await("the worker thread sleeps for long", [] { return long_sleeps > 0; });
  if (naps == 5 && barriers == 1) ::_exit(0);
  std::fprintf(stderr, "%d naps, %d barriers\n", naps.load(), barriers.load());
  ::_exit(5);
}

TEST(WorkerSleep, OnlyALongSleepMakesABarrier) {
  EXPECT_EXIT(sleep_with_nothing_to_do(), testing::ExitedWithCode(0), "");
}

std::chrono::milliseconds others_compute{-1};  ///< while a thread yields, in place of the kernel's yield
std::atomic<int> yields{0};

TEST(OfferCore, NoThreadYieldsForAWhileAfterOthersHaveComputed) {
  others_compute = std::chrono::milliseconds(0);
  await("a yield that is not late", [] { return offer_core(); });
  others_compute = std::chrono::milliseconds(100);
  EXPECT_FALSE(offer_core());
  const int before = yields;
  EXPECT_FALSE(offer_core());  // within 900 ms
  EXPECT_EQ(yields, before);
  await("threads yield again", [&] { return static_cast<void>(offer_core()), yields > before; });
  others_compute = std::chrono::milliseconds(-1);
}

std::atomic<int> refusals{0};

void look_while_others_compute() {
  others_compute = std::chrono::milliseconds(20);
  share_cores();
  before_sleep([] { return ++refusals, false; });
  if (!make_workers({-1}, 16, nullptr) || !start_workers()) ::_exit(3);
  await("the worker thread offers its core", [] { return yields > 10; });
  if (refusals > 100) std::fprintf(stderr, "%d looks\n", refusals.load());
  ::_exit(refusals > 100 ? 4 : 0);
}

TEST(WorkerSleep, AWorkerThatMayNotSleepLetsOthersCompute) {
  EXPECT_EXIT(look_while_others_compute(), testing::ExitedWithCode(0), "");
}

/// As a channel from which another thread takes messages: that thread goes on when it gets a core.
bool is_taken_by_another_thread(int) { return yields < 10; }

void let_another_thread_take_in() {
  yields = 0;
  others_compute = std::chrono::milliseconds(0);
  on_progress(is_taken_by_another_thread);
}

void idle_while_another_thread_takes_in() {
  let_another_thread_take_in();
  share_cores();
  if (!make_workers({-1}, 16, nullptr) || !start_workers()) ::_exit(3);
  await("the worker thread gives its core away", [] { return !is_taken_by_another_thread(0); });
  ::_exit(0);
}

void wait_while_another_thread_takes_in() {
  static constinit base::Bell bell;
  static Completion never;
  let_another_thread_take_in();
  progress_sleeper::keep(bell);
  std::thread([] { never.wait(); }).detach();
  await("the waiting thread gives its core away", [] { return !is_taken_by_another_thread(0); });
  ::_exit(0);
}

TEST(WorkerSleep, AThreadGivesItsCoreToTheOneThatTakesIn) {
  EXPECT_EXIT(idle_while_another_thread_takes_in(), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(wait_while_another_thread_takes_in(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace clump::fiber

using namespace clump::fiber;  // the functions below come before the C library's, outside of any namespace

extern "C" long syscall(long number, ...) noexcept {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& one : a) one = va_arg(list, long);
  va_end(list);
  if (number == SYS_sched_yield && others_compute.count() >= 0) {
    ++yields;
    const timespec time{0, std::chrono::nanoseconds(others_compute).count()};
    return ::nanosleep(&time, nullptr);
  }
  if (number == SYS_membarrier && a[0] == MEMBARRIER_CMD_PRIVATE_EXPEDITED) ++barriers;
  if (number == SYS_futex && (a[1] & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    if (!workers.empty() && a[0] == reinterpret_cast<long>(workers[0].asleep)) {
      ++(a[3] == 0 ? long_sleeps : naps);
      return wait_at_worker(a);
    }
    if (late.load() != Late::kNever && this_thread() == first.load()) first_is_spare = true;
    if (a[3] == 0 && monitor::thread() != 0 && this_thread() == monitor::thread()) {
      monitor_waits_for_long = true;
      const long result = real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
      monitor_waits_for_long = false;
      return result;
    }
  }
  return real_syscall()(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

extern "C" int pthread_attr_init(pthread_attr_t* attributes) noexcept {
  static const auto real =
      reinterpret_cast<int (*)(pthread_attr_t*)>(::dlsym(RTLD_NEXT, "pthread_attr_init"));
  if (before_a_thread_is_made != nullptr && this_thread() == monitor::thread()) {
    std::exchange(before_a_thread_is_made, nullptr)();
  }
  return real(attributes);
}
