#include "host/proc_text.h"

#include <linux/futex.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <ctime>

namespace clump::host {

namespace {

/// The next number of a list with spaces between, "0x" in front where it has it.
std::uint64_t next_number(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t number = ~std::uint64_t{0};
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

FutexWait futex_wait_of(std::string_view call) {
  if (next_number(call) != SYS_futex) return {};
  const std::uint64_t address = next_number(call), operation = next_number(call);
  const std::uint64_t value = next_number(call), limit = next_number(call);
  const std::uint64_t command = operation & FUTEX_CMD_MASK;
  switch (command) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      // The C library's sem_wait() sleeps while the semaphore's value is 0.
      return {limit == 0 ? address : 0, (operation & FUTEX_PRIVATE_FLAG) != 0,
              command == FUTEX_WAIT_BITSET && value == 0};
    default:
      return {};
  }
}

std::uint64_t signal_wait_of(std::string_view call) {
  if (next_number(call) != SYS_rt_sigtimedwait) return 0;
  const std::uint64_t set = next_number(call);
  next_number(call);  // where the signal is told
  return next_number(call) == 0 ? set : 0;
}

int notification_wait_of(std::string_view call) {
  constexpr std::uint64_t kBytes = 32;  // of a notification
  if (next_number(call) != SYS_recvfrom) return -1;
  const std::uint64_t socket = next_number(call);
  next_number(call);  // where the notification is told
  const std::uint64_t bytes = next_number(call), flags = next_number(call), sender = next_number(call);
  const bool is_one = bytes == kBytes && flags == (MSG_NOSIGNAL | MSG_WAITALL) && sender == 0;
  return is_one ? static_cast<int>(socket) : -1;
}

int notified_process_of(std::string_view queue) {
  constexpr std::string_view kName = "NOTIFY_PID:";
  const std::size_t at = queue.find(kName);
  int process = -1;
  if (at == std::string_view::npos) return -1;
  queue.remove_prefix(at + kName.size());
  std::from_chars(queue.data(), queue.data() + queue.size(), process);
  return process;
}

bool is_zombie(std::string_view stat) {
  // The name, in brackets, may have any characters.
  const std::size_t at = stat.rfind(')');
  if (at == std::string_view::npos || at + 2 >= stat.size()) return false;
  const char state = stat[at + 2];
  if (state == 'X') return true;
  if (state != 'Z') return false;
  // So says a process whose first thread has ended, too, while others go on: the 18th word after the name
  // counts them.
  std::string_view rest = stat.substr(at + 2);
  for (int word = 0; word < 17; ++word) {
    const std::size_t end = rest.find(' ');
    if (end == std::string_view::npos) return true;
    rest.remove_prefix(end + 1);
  }
  return next_number(rest) <= 1;
}

/// `clock`: as the kernel counts clocks. A negative one has a kind in its lowest three bits, and above them
/// whose it is: the complement of the number of a process or thread, or of a descriptor.
bool TimerLines::goes_while_all_sleep(int clock) const {
  constexpr int kOfDescriptor = 3, kOfThread = 4;
  if (clock >= 0) return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
  if ((clock & 7) == kOfDescriptor) return true;  // the clock of a device
  if ((clock & kOfThread) != 0) return false;     // timers are for threads of their own process only
  const int owner = ~(clock >> 3);
  return owner != 0 && owner != process_;
}

bool TimerLines::add(std::string_view line) {
  const auto value_of = [&](std::string_view name) {
    if (!line.starts_with(name)) return std::string_view();
    const std::string_view value = line.substr(name.size());
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  };
  if (const std::string_view number = value_of("ID:"); !number.empty()) {
    *this = TimerLines(process_);
    std::from_chars(number.data(), number.data() + number.size(), number_);
  } else if (const std::string_view how = value_of("notify:"); !how.empty()) {
    sends_ = !how.starts_with("none");
  } else if (const std::string_view clock = value_of("ClockID:"); !clock.empty()) {
    int number = 0;
    std::from_chars(clock.data(), clock.data() + clock.size(), number);
    by_clock_ = goes_while_all_sleep(number);
    return number_ >= 0;
  }
  return false;
}

std::uint64_t switches_of(std::string_view status) {
  constexpr std::string_view kName = "\nvoluntary_ctxt_switches:";
  const std::size_t at = status.find(kName);
  if (at == std::string_view::npos) return kNoSwitches;
  status.remove_prefix(at + kName.size());
  status.remove_prefix(std::min(status.find_first_not_of(" \t"), status.size()));
  return next_number(status);
}

}  // namespace clump::host
