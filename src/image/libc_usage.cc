// What a rank's children have used: of those that it has waited for, where the kernel counts the children of
// all ranks of the process.
#include <sys/resource.h>
#include <sys/times.h>
#include <unistd.h>

#include "base/types.h"
#include "image/children.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

constexpr long kMicroseconds = 1'000'000;

long microseconds(const timeval& time) { return time.tv_sec * kMicroseconds + time.tv_usec; }
timeval time_of(long microseconds) { return {microseconds / kMicroseconds, microseconds % kMicroseconds}; }

}  // namespace

void count_usage(const rusage& usage) noexcept {
  ChildrenUsage& all = current_image().libc().children;
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

extern "C" {

CLUMP_HOST_API int getrusage(__rusage_who_t who, rusage* usage) noexcept {
  static constinit Hidden<int(__rusage_who_t, rusage*)> real{"getrusage"};
  const int result = real(who, usage);
  if (result != 0 || who != RUSAGE_CHILDREN || !records_children()) return result;
  const ChildrenUsage& all = current_image().libc().children;
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
  const ChildrenUsage& all = current_image().libc().children;
  used->tms_cutime = all.user_time / tick;
  used->tms_cstime = all.system_time / tick;
  return now;
}

}  // extern "C"
