#include "common/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "common/control_groups.h"

namespace clump::tools {

namespace {

constexpr std::int32_t kMostProcessors = 1 << 16;

/// "0-3,8"
std::string as_text(const std::vector<std::int32_t>& cores) {
  std::string text;
  for (std::size_t first = 0; first < cores.size();) {
    std::size_t last = first;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", cores[first]);
    if (last > first) text += fmt::format("-{}", cores[last]);
    first = last + 1;
  }
  return text;
}

}  // namespace

std::vector<std::int32_t> allowed_processors() {
  std::vector<std::int32_t> allowed;
  for (std::int32_t most = 1024; most <= kMostProcessors; most *= 2) {
    cpu_set_t* set = CPU_ALLOC(static_cast<std::size_t>(most));
    const std::size_t size = CPU_ALLOC_SIZE(static_cast<std::size_t>(most));
    const bool fits = ::sched_getaffinity(0, size, set) == 0;
    for (std::int32_t number = 0; fits && number < most; ++number) {
      if (CPU_ISSET_S(static_cast<std::size_t>(number), size, set)) allowed.push_back(number);
    }
    CPU_FREE(set);
    if (fits) break;
  }
  return allowed;
}

base::Status parse_cores(const std::string& text, std::vector<std::int32_t>& cores) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::int32_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc{} && value >= 0 && value < kMostProcessors;
  };
  for (;;) {
    std::int32_t first = 0, last = 0;
    bool good = number(first);
    last = first;
    if (good && at < end && *at == '-') {
      ++at;
      good = number(last) && last >= first;
    }
    if (!good || (at < end && *at != ',')) {
      return base::fail(MPI_ERR_ARG, "--cores '{}': not a list of cores, such as 0,4-7", text);
    }
    for (std::int32_t core = first; core <= last; ++core) cores.push_back(core);
    if (at++ >= end) return {};
  }
}

base::Status choose_cores(const std::optional<std::string>& wanted, std::vector<std::int32_t>& cores) {
  const std::vector<std::int32_t> allowed = allowed_processors();
  cores.clear();
  if (!wanted) {
    cores = allowed;
    if (const auto quota = tightest_quota(control_groups("cpu")); quota && !cores.empty()) {
      cores.resize(std::min(cores.size(), static_cast<std::size_t>(std::ceil(quota->cores))));
    }
    return {};
  }
  CLUMP_TRY(parse_cores(*wanted, cores));
  for (const std::int32_t core : cores) {
    if (!std::binary_search(allowed.begin(), allowed.end(), core)) {
      return base::fail(MPI_ERR_ARG, "--cores {}: core {} is not usable here; these are: {}", *wanted, core,
                        as_text(allowed));
    }
  }
  return {};
}

}  // namespace clump::tools
