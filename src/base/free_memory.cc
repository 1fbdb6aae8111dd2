#include "base/free_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <limits>
#include <string_view>

namespace clump::base {
namespace {

/// The beginning of a file, as much as `text` has room for; empty if there is no such file.
template <std::size_t kRoom>
std::string_view read(const char* root, const char* folder, std::string_view group, const char* file,
                      char (&text)[kRoom]) {
  char path[1024];
  const int length = std::snprintf(path, sizeof path, "%s%s%.*s%s", root, folder,
                                   static_cast<int>(group.size()), group.data(), file);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return {};
  const int descriptor = ::open(path, O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {};
  const ssize_t bytes = ::read(descriptor, text, kRoom);
  ::close(descriptor);
  return {text, bytes > 0 ? static_cast<std::size_t>(bytes) : 0};
}

/// What follows `key` in a text, up to the end of the line.
std::string_view after(std::string_view text, std::string_view key) {
  const std::size_t place = text.find(key);
  if (place == text.npos) return {};
  text.remove_prefix(place + key.size());
  return text.substr(0, text.find('\n'));
}

/// The number that a text begins with; `otherwise` if there is none ("max").
std::size_t number(std::string_view text, std::size_t otherwise) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), otherwise);
  return otherwise;
}

constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

std::size_t left_in(const char* root, std::string_view group) {
  constexpr const char* kGroups = "/sys/fs/cgroup";
  char text[64];
  const std::size_t most = number(read(root, kGroups, group, "/memory.max", text), kNoLimit);
  if (most == kNoLimit) return most;
  return most - std::min(most, number(read(root, kGroups, group, "/memory.current", text), 0));
}

}  // namespace

std::size_t free_memory(const char* root) {
  char text[4096];
  std::size_t least = number(after(read(root, "/proc", "", "/meminfo", text), "MemAvailable:"), 0) * 1024;
  // "0::/user.slice/job": the line of version 2.
  std::string_view group = after(read(root, "/proc", "", "/self/cgroup", text), "0::");
  if (!group.starts_with('/')) return least;
  for (;; group = group.substr(0, group.rfind('/'))) {
    if (group == "/") group = {};
    least = std::min(least, left_in(root, group));
    if (group.empty()) return least;
  }
}

bool MemoryBudget::take(std::size_t bytes) {
  std::size_t left = left_.load(std::memory_order_relaxed);  // relaxed: it stands for nothing but itself
  while (bytes <= left) {
    if (left_.compare_exchange_weak(left, left - bytes, std::memory_order_relaxed)) return true;
  }
  // Who looks at the same time hands out the same memory again: a quarter leaves room for that.
  const std::size_t fresh = free_memory(root_) / 4;
  if (bytes > fresh) return false;
  left_.store(fresh - bytes, std::memory_order_relaxed);
  return true;
}

}  // namespace clump::base
