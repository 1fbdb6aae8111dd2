// The processor time of a rank, with all its threads, where the kernel counts that of all ranks of the
// process together. Also the processor time of those of its children that it has waited for.
//
// The time of a fiber (fiber/processor_time.h) is counted from the start if the program imports a function
// that reports it, and otherwise from the first call of such a function on.
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>

#include "base/types.h"
#include "fiber/processor_time.h"
#include "image/imports.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/rank_state.h"
#include "process/signals/state.h"

namespace clump::image {
namespace {

constexpr long kMicroseconds = 1'000'000;

long microseconds(const timeval& time) { return time.tv_sec * kMicroseconds + time.tv_usec; }
timeval time_of(long microseconds) { return {microseconds / kMicroseconds, microseconds % kMicroseconds}; }

/// Whether the calling thread belongs to a rank that shares its process.
bool shares_process() { return records_children() && signals::is_ours(); }

std::chrono::nanoseconds used_by_rank() {
  fiber::keep_processor_time();
  return signals::processor_time_of(*fiber::identity());
}

/// User and system time. The kernel divides the time of kernel threads only. So a rank's time is divided as
/// that of the process is; its system time never becomes less.
struct Parts {
  long user, system;  ///< microseconds
};
Parts parts_of_rank(const rusage& process) {
  const long all = used_by_rank() / std::chrono::microseconds(1);
  const long user = microseconds(process.ru_utime), system = microseconds(process.ru_stime);
  std::atomic<long>& told = current_image().state().told_system_time;
  const double share =
      user + system > 0 ? static_cast<double>(system) / static_cast<double>(user + system) : 0;
  long before = told.load(std::memory_order_relaxed);
  const long now =
      std::clamp(static_cast<long>(share * static_cast<double>(all)), before, std::max(before, all));
  while (before < now && !told.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
  return {all - now, now};
}

/// Whether it is the clock that clock_getcpuclockid() returns for the calling process, by its number or by 0.
bool is_of_process(clockid_t clock) {
  constexpr clockid_t kOfScheduler = 2;
  const auto clock_of = [](pid_t process) { return (~process * 8) | kOfScheduler; };
  if (clock == CLOCK_PROCESS_CPUTIME_ID || clock == clock_of(0)) return true;
  // Clocks of threads have an additional bit.
  return (clock & 7) == kOfScheduler && clock == clock_of(static_cast<pid_t>(syscall(SYS_getpid)));
}

timespec to_timespec(std::chrono::nanoseconds time) {
  constexpr long kSecond = 1'000'000'000;
  return {time.count() / kSecond, time.count() % kSecond};
}

}  // namespace

void count_usage(const rusage& usage) noexcept {
  ChildrenUsage& all = current_image().state().children;
  // relaxed: counters
  const auto add = [](std::atomic<long>& sum, long more) { sum.fetch_add(more, std::memory_order_relaxed); };
  add(all.user_time, microseconds(usage.ru_utime));
  add(all.system_time, microseconds(usage.ru_stime));
  add(all.minor_faults, usage.ru_minflt);
  add(all.major_faults, usage.ru_majflt);
  add(all.blocks_in, usage.ru_inblock);
  add(all.blocks_out, usage.ru_oublock);
  add(all.waits, usage.ru_nvcsw);
  add(all.preemptions, usage.ru_nivcsw);
  long most = all.most_memory.load(std::memory_order_relaxed);
  while (most < usage.ru_maxrss &&
         !all.most_memory.compare_exchange_weak(most, usage.ru_maxrss, std::memory_order_relaxed)) {
  }
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace
namespace fiber = clump::fiber;

extern "C" {

CLUMP_HOST_API int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  static constinit Hidden<int(__rusage_who_t, rusage*)> real{"getrusage"};
  const int result = real(who, usage);
  if (result == 0 && who == RUSAGE_SELF && shares_process()) {
    const Parts mine = parts_of_rank(*usage);
    usage->ru_utime = time_of(mine.user);
    usage->ru_stime = time_of(mine.system);
  }
  if (result != 0 || who != RUSAGE_CHILDREN || !records_children()) return result;
  const ChildrenUsage& all = current_image().state().children;
  *usage = {};
  usage->ru_utime = time_of(all.user_time);
  usage->ru_stime = time_of(all.system_time);
  usage->ru_maxrss = all.most_memory;
  usage->ru_minflt = all.minor_faults;
  usage->ru_majflt = all.major_faults;
  usage->ru_inblock = all.blocks_in;
  usage->ru_oublock = all.blocks_out;
  usage->ru_nvcsw = all.waits;
  usage->ru_nivcsw = all.preemptions;
  return 0;
}

CLUMP_HOST_API clock_t times(tms* used) noexcept {
  static constinit Hidden<clock_t(tms*)> real{"times"};
  const clock_t now = real(used);
  if (used == nullptr || !records_children()) return now;
  const long tick = kMicroseconds / sysconf(_SC_CLK_TCK);
  const ChildrenUsage& all = current_image().state().children;
  used->tms_cutime = all.user_time / tick;
  used->tms_cstime = all.system_time / tick;
  rusage mine{};
  getrusage(RUSAGE_SELF, &mine);
  used->tms_utime = microseconds(mine.ru_utime) / tick;
  used->tms_stime = microseconds(mine.ru_stime) / tick;
  return now;
}

CLUMP_HOST_API clock_t clock() noexcept {
  static constinit Hidden<clock_t()> real{"clock"};
  static_assert(CLOCKS_PER_SEC == 1'000'000);
  return shares_process() ? used_by_rank() / std::chrono::microseconds(1) : real();
}

CLUMP_HOST_API int clock_gettime(clockid_t clock, timespec* time) noexcept {
  static constinit Hidden<int(clockid_t, timespec*)> real{"clock_gettime"};
  constexpr clockid_t kMostOfProcessors = 3;  // the clocks of the time of day have other numbers
  if (clock > kMostOfProcessors || clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME) [[likely]]
    return real(clock, time);
  const bool of_process = is_of_process(clock);
  if ((!of_process && clock != CLOCK_THREAD_CPUTIME_ID) || time == nullptr || !shares_process())
    return real(clock, time);
  fiber::keep_processor_time();
  *time = to_timespec(of_process ? used_by_rank() : signals::processor_time_of_caller());
  return 0;
}

}  // extern "C"
