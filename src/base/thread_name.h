// Names of kernel threads, as ps, top, perf and debuggers show them. The kernel keeps 15 bytes.
#pragma once

#include <fmt/format.h>
#include <sys/prctl.h>

#include <string>
#include <string_view>

namespace clump::base {

inline void name_this_thread(const std::string& name) { ::prctl(PR_SET_NAME, name.c_str()); }

/// One that Clump has made for itself: "clump worker 3"; without "clump" where there is no room for it.
inline void name_own_thread(std::string_view role, int number = -1) {
  constexpr std::size_t kMost = 15;
  const std::string own = number < 0 ? std::string(role) : fmt::format("{} {}", role, number);
  const std::string full = "clump " + own;
  name_this_thread(full.size() <= kMost ? full : own);
}

}  // namespace clump::base
