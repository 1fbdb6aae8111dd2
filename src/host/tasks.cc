#include "host/tasks.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string_view>
#include <utility>

#include "base/core_delay.h"
#include "base/process.h"
#include "fiber/fiber.h"
#include "fiber/monitor.h"
#include "fiber/worker.h"
#include "host/proc_text.h"
#include "host/state.h"
#include "host/wake_sources.h"

extern "C" [[gnu::weak]] void __tsan_init();

namespace clump::host {

namespace {

/// Whether processes of the job have the memory at this address in common: then the job looks.
bool is_jobs_memory(std::uint64_t address) {
  const pmi::Job& job = host().job;
  const auto nodes = reinterpret_cast<std::uintptr_t>(&host().node.host(job.this_node().first));
  return address - nodes < pmi::NodeMemory::end(job);
}

/// False: there is no memory at `address` now.
bool read_own_memory(std::uint64_t address, void* to, std::size_t bytes) {
  const iovec here{to, bytes};
  const iovec there{reinterpret_cast<void*>(address), bytes};
  return ::syscall(SYS_process_vm_readv, base::process_id(), &here, 1, &there, 1, 0) ==
         static_cast<long>(bytes);
}

/// Whether a thread sleeps in a semaphore of the C library. There follow, behind the value, the number of
/// threads that wait, and whether other processes may have it. Rarely true for something else; true if memory
/// cannot be read.
bool is_in_semaphore(const FutexWait& wait) {
  constexpr std::uint32_t kMostWaiters = 1 << 16, kShared = 128;
  if (!wait.may_be_semaphore) return false;
  std::array<std::uint32_t, 3> words{};
  if (!read_own_memory(wait.address, words.data(), sizeof words)) return true;
  return words[1] != 0 && words[1] <= kMostWaiters && words[2] == (wait.is_private ? 0 : kShared);
}

/// Whether a thread is the C library's that begins the functions of timers with SIGEV_THREAD: it sleeps until
/// a timer sends signal 32. Whether a timer will is known otherwise (wake_sources.h).
bool waits_for_timers(std::string_view call) {
  constexpr std::uint64_t kTimers = std::uint64_t{1} << 31;
  const std::uint64_t address = signal_wait_of(call);
  std::uint64_t set = 0;
  return address != 0 && read_own_memory(address, &set, sizeof set) && set == kTimers;
}

/// Whether a thread is the C library's that begins the functions of mq_notify() with SIGEV_THREAD, while no
/// notification may come. With `anything`, also where one may.
bool waits_for_notification(std::string_view call, bool anything) {
  const int socket = notification_wait_of(call);
  return socket >= 0 && (anything || !notification_may_come(socket));
}

/// 0: there is no such clock.
std::chrono::nanoseconds read_clock(clockid_t clock) {
  timespec time{};
  if (::clock_gettime(clock, &time) != 0) return {};
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

/// How long a thread of this process has run.
std::chrono::nanoseconds run_of(pid_t thread) {
  // As pthread_getcpuclockid() makes it, but by the number.
  return read_clock(static_cast<clockid_t>(~static_cast<unsigned>(thread) << 3 | 6));
}

/// How long a thread of this process could have run and had no core; 0: the kernel does not tell.
std::chrono::nanoseconds delay_of(pid_t thread) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/schedstat", thread);
  return base::read_core_delay(path.data()).value_or(std::chrono::nanoseconds());
}

template <typename Function>
void for_each_other_thread(Function function) {
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/task"), &::closedir);
  if (!all) return;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  while (const dirent* const entry = ::readdir(all.get()))
    if (const pid_t thread = std::atoi(entry->d_name); thread != 0 && thread != self) function(thread);
}

}  // namespace

std::chrono::nanoseconds time_of_thread(pid_t thread) { return run_of(thread) + delay_of(thread); }

std::chrono::nanoseconds time_of_all_threads() {
  const pid_t monitor = fiber::monitor::thread();
  std::chrono::nanoseconds sum = read_clock(CLOCK_PROCESS_CPUTIME_ID) - read_clock(CLOCK_THREAD_CPUTIME_ID);
  if (monitor != 0) sum -= run_of(monitor);
  for_each_other_thread([&](pid_t thread) {
    if (thread != monitor) sum += delay_of(thread);
  });
  return sum;
}

/// Whether the thread, which sleeps in a futex, may be woken by a process that is none of the job's.
bool Tasks::is_woken_from_outside(const Task& task, Answers& answers) {
  // Of a sleep that an earlier look has seen the memory is known.
  const auto seen = seen_.find(task.thread);
  const bool is_the_same = seen != seen_.end() && seen->second == task;
  if (!is_the_same && !task.wait.is_private && !is_jobs_memory(task.wait.address) &&
      answers.shared.has(task.wait.address))
    return true;
  if (!is_in_semaphore(task.wait)) return false;
  if (!answers.handles_signals) answers.handles_signals = handles_signals_from_outside();
  return *answers.handles_signals;
}

Tasks::Found Tasks::look_at(pid_t thread, Answers& answers) {
  std::array<char, 64> path{};
  std::array<char, 4096> room{};
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/syscall", thread);
  const std::string_view call = read_proc_file(path.data(), room.data(), room.size());
  if (call.empty()) return Found::kGone;
  Task task{.thread = thread, .wait = futex_wait_of(call)};
  if (task.wait.address == 0 && !waits_for_timers(call) &&
      !waits_for_notification(call, wakers_ == Wakers::kAnything))
    return Found::kAwake;
  std::snprintf(path.data(), path.size(), "/proc/self/task/%d/status", thread);
  const std::string_view status = read_proc_file(path.data(), room.data(), room.size());
  // Not a thread that a debugger holds, or that waits for a page: it may have been woken.
  if (status.find("\nState:\tS") == std::string_view::npos) return Found::kAwake;
  task.switches = switches_of(status);
  if (task.switches == kNoSwitches) return Found::kAwake;
  if (wakers_ == Wakers::kThreads && task.wait.address != 0 && is_woken_from_outside(task, answers))
    return Found::kAwake;
  now_.push_back(task);
  return Found::kAsleep;
}

bool Tasks::look() {
  if (fiber::monitor::has_to_do()) return false;
  Answers answers;
  if (const pid_t first = std::exchange(awake_, 0); first != 0 && look_at(first, answers) == Found::kAwake) {
    awake_ = first;
    return false;
  }
  now_.clear();
  const std::unique_ptr<DIR, int (*)(DIR*)> all(::opendir("/proc/self/task"), &::closedir);
  if (!all) return false;
  const auto self = static_cast<pid_t>(::syscall(SYS_gettid));
  while (const dirent* const entry = ::readdir(all.get())) {
    const pid_t thread = std::atoi(entry->d_name);  // "." and ".." give 0
    if (thread == 0 || thread == self || thread == fiber::monitor::thread()) continue;
    if (look_at(thread, answers) == Found::kAsleep) continue;
    awake_ = thread;
    break;
  }
  seen_.clear();
  for (const Task& task : now_) seen_.emplace(task.thread, task);
  if (awake_ != 0) return false;
  return wakers_ == Wakers::kAnything || !signal_will_come();
}

bool Tasks::are_still(std::chrono::milliseconds least) {
  // It does not know the observer, which must not allocate there.
  if (__tsan_init != nullptr) return false;
  const auto time = std::chrono::steady_clock::now();
  if (!last_.empty() && time - looked_ < least) return false;
  const bool all_sleep = look();
  if (all_sleep && !now_.empty() && now_ == last_) return true;
  if (all_sleep)
    last_ = now_;
  else
    last_.clear();
  looked_ = time;
  return false;
}

}  // namespace clump::host
