#include "host/proc_text.h"

#include <linux/futex.h>
#include <sys/syscall.h>

#include <algorithm>
#include <charconv>
#include <cstddef>

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
  next_number(call);  // the value
  const std::uint64_t limit = next_number(call);
  switch (operation & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
      return {limit == 0 ? address : 0, (operation & FUTEX_PRIVATE_FLAG) != 0};
    default:
      return {};
  }
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
