// alarm() and setitimer(). A rank's ITIMER_REAL is a timer of its own in the kernel. The kernel counts
// processor time only for the process: each time that the process has used a little more, that time is
// counted for the rank that runs on the interrupted thread. With many ranks and long intervals this is right
// on average, which is all that profilers need.
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>

#include "base/types.h"
#include "image/symbols.h"
#include "process/signals/timer.h"

namespace clump::image::signals {
namespace {

using std::chrono::microseconds;

/// The shortest and the longest tick that the kernel is asked for while a rank uses such a timer.
constexpr microseconds kShortest{1000}, kLongest{10000};

microseconds to_time(const timeval& time) {
  return std::chrono::seconds(time.tv_sec) + microseconds(time.tv_usec);
}
timeval to_timeval(microseconds time) {
  return {static_cast<time_t>(time / std::chrono::seconds(1)), time.count() % 1'000'000};
}
timespec to_timespec(const timeval& time) { return {time.tv_sec, time.tv_usec * 1000}; }
timeval to_timeval(const timespec& time) { return {time.tv_sec, time.tv_nsec / 1000}; }

bool is_valid(const timeval& time) {
  return time.tv_sec >= 0 && time.tv_usec >= 0 && time.tv_usec < 1'000'000;
}

int signal_of(int which) { return which == ITIMER_PROF ? SIGPROF : SIGVTALRM; }

/// How much processor time of the process one tick is; 0: no rank has such a timer.
constinit microseconds ticks[2]{};

ProcessorTimer& processor_timer(Table& table, int which) {
  return table.processor_timers[which == ITIMER_PROF ? 1 : 0];
}

/// Called after a rank has changed its timer. With the Guard.
void set_tick(int which) {
  microseconds least = microseconds::zero();
  for (Table* table = first_table(); table != nullptr; table = table->next) {
    const ProcessorTimer& timer = processor_timer(*table, which);
    if (timer.left <= microseconds::zero()) continue;
    const microseconds wanted =
        std::clamp(timer.interval > microseconds::zero() ? std::min(timer.interval, timer.left) : timer.left,
                   kShortest, kLongest);
    least = least == microseconds::zero() ? wanted : std::min(least, wanted);
  }
  microseconds& tick = ticks[which == ITIMER_PROF ? 1 : 0];
  if (tick == least) return;
  tick = least;
  const itimerval timer{to_timeval(least), to_timeval(least)};
  ::syscall(SYS_setitimer, which, &timer, nullptr);
}

int set_processor_timer(int which, const itimerval& wanted, itimerval* before) {
  Table& table = own_table();
  claim(bit_of(signal_of(which)));
  start_service();
  const Guard guard;
  ProcessorTimer& timer = processor_timer(table, which);
  if (before != nullptr) *before = {to_timeval(timer.interval), to_timeval(timer.left)};
  timer = {to_time(wanted.it_value), to_time(wanted.it_interval)};
  set_tick(which);
  return 0;
}

/// The rank's timer, made if there is none.
Timer* real_timer() {
  Table& table = own_table();
  if (table.alarm != nullptr) return table.alarm;
  Timer* const timer = make_timer();
  if (timer == nullptr) return nullptr;
  timer->number = SIGALRM;
  timer->of_alarm = true;
  if (start_timer(CLOCK_MONOTONIC, *timer) != 0) {
    timer->used.store(false, std::memory_order_release);
    return nullptr;
  }
  return table.alarm = timer;
}

int set_real_timer(const itimerval& wanted, itimerval* before) {
  Timer* const timer = real_timer();
  if (timer == nullptr) return -1;
  itimerspec last{};
  if (set_timer(*timer, 0, {to_timespec(wanted.it_interval), to_timespec(wanted.it_value)}, &last) != 0)
    return -1;
  if (before != nullptr) *before = {to_timeval(last.it_interval), to_timeval(last.it_value)};
  return 0;
}

}  // namespace

bool on_tick(Thread& self, const siginfo_t& info) {
  const int which = info.si_signo == SIGPROF ? ITIMER_PROF : ITIMER_VIRTUAL;
  if (info.si_signo != signal_of(which) || info.si_code != SI_KERNEL) return false;
  if (self.rank == nullptr) return true;  // the thread belongs to no rank
  bool is_due;
  {
    const Guard guard;
    const microseconds tick = ticks[which == ITIMER_PROF ? 1 : 0];
    if (tick == microseconds::zero()) return false;
    ProcessorTimer& timer = processor_timer(table_of(*self.rank), which);
    if (timer.left <= microseconds::zero()) return true;
    timer.left -= tick;
    is_due = timer.left <= microseconds::zero();
    if (is_due) {
      timer.left = timer.interval;
      set_tick(which);
    }
  }
  if (is_due) come_to(self, info);
  return true;
}

}  // namespace clump::image::signals

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
using namespace clump::image::signals;

extern "C" {

CLUMP_HOST_API int getitimer(__itimer_which_t which, itimerval* now) noexcept {
  static constinit Hidden<int(__itimer_which_t, itimerval*)> real{"getitimer"};
  if (!is_ours() || which < ITIMER_REAL || which > ITIMER_PROF) return real(which, now);
  if (now == nullptr) {
    errno = EFAULT;
    return -1;
  }
  Table& table = own_table();
  *now = {};
  if (which == ITIMER_REAL) {
    itimerspec left{};
    if (table.alarm == nullptr) return 0;
    if (get_timer(*table.alarm, left) != 0) return -1;
    *now = {to_timeval(left.it_interval), to_timeval(left.it_value)};
    return 0;
  }
  const Guard guard;
  const ProcessorTimer& timer = processor_timer(table, which);
  *now = {to_timeval(timer.interval), to_timeval(timer.left)};
  return 0;
}

CLUMP_HOST_API int setitimer(__itimer_which_t which, const itimerval* wanted, itimerval* before) noexcept {
  static constinit Hidden<int(__itimer_which_t, const itimerval*, itimerval*)> real{"setitimer"};
  if (!is_ours() || which < ITIMER_REAL || which > ITIMER_PROF) return real(which, wanted, before);
  constexpr itimerval kNone{};
  const itimerval& timer = wanted != nullptr ? *wanted : kNone;  // as Linux has it
  if (!is_valid(timer.it_value) || !is_valid(timer.it_interval)) {
    errno = EINVAL;
    return -1;
  }
  return which == ITIMER_REAL ? set_real_timer(timer, before) : set_processor_timer(which, timer, before);
}

CLUMP_HOST_API unsigned alarm(unsigned seconds) noexcept {
  static constinit Hidden<unsigned(unsigned)> real{"alarm"};
  if (!is_ours()) return real(seconds);
  const itimerval wanted{{}, {static_cast<time_t>(seconds), 0}};
  itimerval before{};
  if (setitimer(ITIMER_REAL, &wanted, &before) != 0) return 0;
  auto left = static_cast<unsigned>(before.it_value.tv_sec);
  if (before.it_value.tv_usec >= 500'000 || (left == 0 && before.it_value.tv_usec > 0)) ++left;
  return left;
}

CLUMP_HOST_API useconds_t ualarm(useconds_t first, useconds_t interval) noexcept {
  static constinit Hidden<useconds_t(useconds_t, useconds_t)> real{"ualarm"};
  if (!is_ours()) return real(first, interval);
  const itimerval wanted{to_timeval(microseconds(interval)), to_timeval(microseconds(first))};
  itimerval before{};
  if (setitimer(ITIMER_REAL, &wanted, &before) != 0) return 0;
  return static_cast<useconds_t>(to_time(before.it_value).count());
}

}  // extern "C"
