// Timers of a rank: timer_create() and the related functions, alarm(), ITIMER_REAL. Each has a timer of the
// kernel, which signals the service (signals/service.cc); the service leaves the signal for the rank.
#include "process/signals/timer.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <ctime>

#include "base/types.h"
#include "fiber/awake_threads.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "fiber/rank_callbacks.h"
#include "image/fork_locks.h"
#include "image/image.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/libc/rank_locale.h"
#include "process/threads/thread_directory.h"
#include "process/threads/thread_exit.h"

namespace clump::image::signals {
namespace {

constexpr int kMostTimers = 4096;

constinit Timer timers[kMostTimers];
/// How many of them have SIGEV_THREAD: nearly always none.
constinit std::atomic<int> threaded_timers{0};

int kernel_create(clockid_t clock, sigevent* event, int* id) {
  return static_cast<int>(::syscall(SYS_timer_create, clock, event, id));
}

Timer* take_timer() {
  for (Timer& timer : timers) {
    bool free = false;
    if (!timer.used.load(std::memory_order_relaxed) && timer.used.compare_exchange_strong(free, true))
      return &timer;
  }
  errno = EAGAIN;
  return nullptr;
}

/// What the kernel tells when the timer expires: its place in `timers`, and which timer there it is. An
/// expiry may be told when the timer was deleted, and another rank has one in its place.
constexpr unsigned kPlaceBits = 16;
static_assert(kMostTimers <= 1 << kPlaceBits);

sigval name_of(const Timer& timer) {
  const auto place = static_cast<std::uint64_t>(&timer - timers);
  sigval name{};
  name.sival_ptr = reinterpret_cast<void*>(timer.generation << kPlaceBits | place);
  return name;
}

/// The timer of that name; null: it was deleted. With the Guard.
Timer* timer_of(sigval name) {
  const auto bits = reinterpret_cast<std::uintptr_t>(name.sival_ptr);
  Timer& timer = timers[bits % (1U << kPlaceBits)];
  const bool is_there = timer.used.load(std::memory_order_relaxed) && timer.generation == bits >> kPlaceBits;
  return is_there ? &timer : nullptr;
}

/// The timer of the program's timer_t, which is its address. Null with EINVAL if it is none of the caller's.
Timer* find(timer_t name) {
  auto* const timer = static_cast<Timer*>(name);
  const auto place = reinterpret_cast<std::uintptr_t>(timer) - reinterpret_cast<std::uintptr_t>(timers);
  if (place >= sizeof timers || place % sizeof(Timer) != 0 || !timer->used.load(std::memory_order_relaxed) ||
      timer->rank != fiber::identity()) {
    errno = EINVAL;
    return nullptr;
  }
  return timer;
}

void count_as_awake(Timer& timer) {
  if (!timer.counts.exchange(true, std::memory_order_acq_rel)) fiber::thread_begins();
}
void count_no_longer(Timer& timer) {
  if (timer.counts.exchange(false, std::memory_order_acq_rel)) fiber::thread_ends();
}

/// SIGEV_THREAD: whether another function will begin.
bool will_expire(const Timer& timer) {
  static constinit Hidden<int(timer_t, itimerspec*)> real{"timer_gettime"};
  itimerspec now{};
  return timer.used.load(std::memory_order_acquire) && real(timer.threaded, &now) == 0 &&
         (now.it_value.tv_sec != 0 || now.it_value.tv_nsec != 0);
}

/// timer_settime() of SIGEV_THREAD. What has expired may not have begun its function yet: so a timer that is
/// unset counts until it is deleted.
int set_threaded(Timer& timer, int flags, const itimerspec* wanted, itimerspec* before) {
  static constinit Hidden<int(timer_t, int, const itimerspec*, itimerspec*)> real{"timer_settime"};
  const bool sets = wanted != nullptr && (wanted->it_value.tv_sec != 0 || wanted->it_value.tv_nsec != 0);
  if (sets) count_as_awake(timer);
  const int result = real(timer.threaded, flags, wanted, before);
  // Once more: a function that begins meanwhile may have found the timer unset.
  if (sets && will_expire(timer)) count_as_awake(timer);
  return result;
}

/// SIGEV_THREAD: calls the function, on a thread that the C library has made for it. The thread has what the
/// rank's own threads have: locale, directory, the floating-point settings of the thread that has made the
/// timer. It stays the rank's while the C library ends it, as destructors of keys are the rank's.
void run_in_thread(sigval name) {
  struct Expiry {
    fiber::Identity* rank = nullptr;
    void (*function)(sigval) = nullptr;
    sigval value{};
    fiber::FloatControl floats;
    bool of_fiber = false;
  } expiry;
  {
    const Guard guard;
    Timer* const timer = timer_of(name);
    if (timer == nullptr || has_ended(*timer->rank)) return;
    fiber::thread_begins();
    if (!will_expire(*timer)) {
      count_no_longer(*timer);
      if (will_expire(*timer)) count_as_awake(*timer);  // it was set meanwhile
    }
    expiry = {timer->rank, timer->function, timer->value, timer->floats, timer->of_fiber};
  }
  run_then_end(
      [](void* argument) {
        const Expiry& now = *static_cast<const Expiry*>(argument);
        adopt_thread(*now.rank);
        use_rank_locale();
        now.floats.use();
        begin_thread();
        if (now.of_fiber) {
          fiber::inherit(nullptr);
          catch_up_with_directory();
        }
        now.function(now.value);
      },
      [](void*) {
        NoFork::leave_all();
        end_thread();
        fiber::thread_ends();
      },
      &expiry);
}

int create_threaded(clockid_t clock, const sigevent& wanted, Timer& timer) {
  static constinit Hidden<int(clockid_t, sigevent*, timer_t*)> real{"timer_create"};
  fiber::RankCallbacks::has_threads(*timer.rank);
  timer.function = wanted.sigev_notify_function;
  timer.value = wanted.sigev_value;
  timer.floats = fiber::FloatControl::here();
  timer.of_fiber = fiber::rank_fiber() != nullptr;
  if (timer.of_fiber) {
    image_of(timer.rank).threads_made.fetch_add(1, std::memory_order_relaxed);
    tell_threads();  // the threads that the C library makes take over the rank's directory
  }
  sigevent event = wanted;
  event.sigev_notify_function = run_in_thread;
  event.sigev_value = name_of(timer);
  const int result = real(clock, &event, &timer.threaded);
  if (result == 0) threaded_timers.fetch_add(1, std::memory_order_relaxed);
  return result;
}

/// SIGEV_THREAD_ID: finds the thread of the rank with this number. False: there is none.
bool find_target(pid_t number, Timer& timer) {
  (void)mine();
  const Guard guard;
  for (Thread* thread = state_of(*timer.rank).threads; thread != nullptr; thread = thread->next)
    if (thread->number == number) timer.to = thread;
  return timer.to != nullptr;
}

int create(clockid_t clock, const sigevent* wanted, Timer& timer) {
  if (wanted == nullptr) {
    timer.number = SIGALRM;
    timer.value.sival_ptr = &timer;
    return start_timer(clock, timer);
  }
  timer.number = wanted->sigev_signo;
  timer.value = wanted->sigev_value;
  switch (wanted->sigev_notify) {
    case SIGEV_THREAD:
      return create_threaded(clock, *wanted, timer);
    case SIGEV_NONE: {
      sigevent none = *wanted;
      return kernel_create(clock, &none, &timer.kernels);
    }
    case SIGEV_THREAD_ID:
      if (!find_target(wanted->_sigev_un._tid, timer)) break;
      [[fallthrough]];
    case SIGEV_SIGNAL:
      if (timer.number < 1 || timer.number > kHighest) break;
      return start_timer(clock, timer);
    default:
      break;
  }
  errno = EINVAL;
  return -1;
}

}  // namespace

int start_timer(clockid_t clock, Timer& timer) {
  start_service();
  claim(bit_of(timer.number));
  sigevent event{};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = kRestart;
  event._sigev_un._tid = service_thread();
  event.sigev_value = name_of(timer);
  if (event._sigev_un._tid == 0) {
    errno = EAGAIN;
    return -1;
  }
  return kernel_create(clock, &event, &timer.kernels);
}

int set_timer(const Timer& timer, int flags, const itimerspec& wanted, itimerspec* before) {
  return static_cast<int>(::syscall(SYS_timer_settime, timer.kernels, flags, &wanted, before));
}

int get_timer(const Timer& timer, itimerspec& now) {
  return static_cast<int>(::syscall(SYS_timer_gettime, timer.kernels, &now));
}

Timer* make_timer() {
  Timer* const timer = take_timer();
  if (timer == nullptr) return nullptr;
  const Guard guard;
  ++timer->generation;
  timer->rank = fiber::identity();
  timer->to = nullptr;
  timer->threaded = nullptr;
  timer->kernels = 0;
  timer->overrun = 0;
  timer->of_alarm = false;
  return timer;
}

void on_timer(const siginfo_t& kernels) {
  const fiber::Identity* rank = nullptr;
  Thread* to = nullptr;
  siginfo_t info{};
  {
    const Guard guard;
    const Timer* const timer = timer_of(kernels.si_value);
    if (timer == nullptr) return;  // it was deleted meanwhile
    rank = timer->rank;
    to = timer->to;
    info = make_info(timer->number, timer->of_alarm ? SI_KERNEL : SI_TIMER);
    if (!timer->of_alarm) {
      info.si_timerid = static_cast<int>(timer - timers);
      info.si_overrun = kernels.si_overrun;
      info.si_value = timer->value;
      if (count_overrun(*rank, to, info)) return;
    }
  }
  (void)direct(*rank, to, info);
}

void note_overrun(const siginfo_t& info) noexcept {
  if (info.si_timerid >= 0 && info.si_timerid < kMostTimers)
    timers[info.si_timerid].overrun = info.si_overrun;
}

int delete_timer(Timer& timer) {
  static constinit Hidden<int(timer_t)> real{"timer_delete"};
  const Guard guard;  // a thread of the timer that begins now has it
  const int result = timer.threaded != nullptr ? real(timer.threaded)
                                               : static_cast<int>(::syscall(SYS_timer_delete, timer.kernels));
  if (timer.threaded != nullptr) threaded_timers.fetch_sub(1, std::memory_order_relaxed);
  count_no_longer(timer);
  timer.used.store(false, std::memory_order_release);
  return result;
}

void delete_timers_of(const fiber::Identity& rank) {
  if (threaded_timers.load(std::memory_order_relaxed) == 0) return;  // relaxed: the rank's own are counted
  for (Timer& timer : timers)
    if (timer.used.load(std::memory_order_acquire) && timer.rank == &rank && timer.threaded != nullptr)
      (void)delete_timer(timer);
}

}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;

extern "C" {

CLUMP_HOST_API int timer_create(clockid_t clock, sigevent* event, timer_t* name) noexcept {
  static constinit Hidden<int(clockid_t, sigevent*, timer_t*)> real{"timer_create"};
  if (!is_ours()) return real(clock, event, name);
  Timer* const timer = make_timer();
  if (timer == nullptr) return -1;
  if (create(clock, event, *timer) != 0) {
    timer->used.store(false, std::memory_order_release);
    return -1;
  }
  *name = timer;
  return 0;
}

CLUMP_HOST_API int timer_settime(timer_t name, int flags, const itimerspec* wanted,
                                 itimerspec* before) noexcept {
  static constinit Hidden<int(timer_t, int, const itimerspec*, itimerspec*)> real{"timer_settime"};
  if (!is_ours()) return real(name, flags, wanted, before);
  Timer* const timer = find(name);
  if (timer == nullptr) return -1;
  if (timer->threaded != nullptr) return set_threaded(*timer, flags, wanted, before);
  return set_timer(*timer, flags, *wanted, before);
}

CLUMP_HOST_API int timer_gettime(timer_t name, itimerspec* now) noexcept {
  static constinit Hidden<int(timer_t, itimerspec*)> real{"timer_gettime"};
  if (!is_ours()) return real(name, now);
  const Timer* const timer = find(name);
  if (timer == nullptr) return -1;
  return timer->threaded != nullptr ? real(timer->threaded, now) : get_timer(*timer, *now);
}

CLUMP_HOST_API int timer_getoverrun(timer_t name) noexcept {
  static constinit Hidden<int(timer_t)> real{"timer_getoverrun"};
  if (!is_ours()) return real(name);
  const Timer* const timer = find(name);
  if (timer == nullptr) return -1;
  return timer->threaded != nullptr ? real(timer->threaded) : timer->overrun;
}

CLUMP_HOST_API int timer_delete(timer_t name) noexcept {
  static constinit Hidden<int(timer_t)> real{"timer_delete"};
  if (!is_ours()) return real(name);
  Timer* const timer = find(name);
  if (timer == nullptr) return -1;
  return delete_timer(*timer);
}

}  // extern "C"
