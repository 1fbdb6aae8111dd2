// Names of functions in backtraces, in the format of the C library, also for functions in a rank's copies.
// unwind.cc has the functions that tell about objects.
#include <execinfo.h>
#include <unistd.h>

#include <dlfcn.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/types.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"

namespace clump::image {
namespace {

/// The longest line of backtrace_symbols(); longer names are cut.
constexpr std::size_t kMostLetters = 1024;

int describe(const void* address, char* text) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr || *info.dli_fname == '\0')
    return std::snprintf(text, kMostLetters, "[%p]", address);
  const char* const name = info.dli_sname != nullptr ? info.dli_sname : "";
  const void* const begin = info.dli_sname != nullptr ? info.dli_saddr : info.dli_fbase;
  const std::ptrdiff_t offset = static_cast<const char*>(address) - static_cast<const char*>(begin);
  const int length = std::snprintf(text, kMostLetters, "%s(%s%c0x%tx) [%p]", info.dli_fname, name,
                                   offset < 0 ? '-' : '+', offset < 0 ? -offset : offset, address);
  return std::min(length, static_cast<int>(kMostLetters) - 1);
}

bool any_in_copy(void* const* addresses, int count) {
  return captured() && std::any_of(addresses, addresses + std::max(count, 0),
                                   [](const void* address) { return instance_at(address) != nullptr; });
}

/// Describes addresses in one block, which the caller frees: the pointers, and behind them the texts.
char** describe_all(void* const* addresses, int count) {
  const auto number = static_cast<std::size_t>(count);
  char text[kMostLetters];
  std::size_t bytes = number * sizeof(char*);
  for (std::size_t i = 0; i < number; ++i)
    bytes += static_cast<std::size_t>(describe(addresses[i], text)) + 1;
  auto* const all = static_cast<char**>(std::malloc(bytes));
  if (all == nullptr) return nullptr;
  char* place = reinterpret_cast<char*>(all + number);
  for (std::size_t i = 0; i < number; ++i) {
    all[i] = place;
    const auto length = static_cast<std::size_t>(describe(addresses[i], text));
    std::memcpy(place, text, length + 1);
    place += length + 1;
  }
  return all;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API char** backtrace_symbols(void* const* addresses, int count) noexcept {
  static constinit Hidden<char**(void* const*, int)> real{"backtrace_symbols"};
  return any_in_copy(addresses, count) ? describe_all(addresses, count) : real(addresses, count);
}

/// For handlers of faults: it allocates nothing.
CLUMP_HOST_API void backtrace_symbols_fd(void* const* addresses, int count, int descriptor) noexcept {
  static constinit Hidden<void(void* const*, int, int)> real{"backtrace_symbols_fd"};
  if (!any_in_copy(addresses, count) && !standard::is_standard(descriptor))
    return real(addresses, count, descriptor);
  for (int i = 0; i < count; ++i) {
    char text[kMostLetters + 1];
    const int length = describe(addresses[i], text);
    text[length] = '\n';
    if (write(descriptor, text, static_cast<std::size_t>(length) + 1) < 0) return;
  }
}

}  // extern "C"
