#include "cluster/troubles.h"

#include <fmt/ranges.h>

#include <algorithm>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kMostHosts = 8;  ///< of one kind are named

}  // namespace

void Troubles::add(const std::string& host, int code, const std::string& what) {
  const auto same = std::ranges::find_if(
      all_, [&](const Trouble& known) { return known.what == what && known.code == code; });
  if (same == all_.end())
    all_.push_back({{host}, code, what});
  else if (std::ranges::find(same->hosts, host) == same->hosts.end())
    same->hosts.push_back(host);
}

std::string Troubles::text() const {
  std::string text;
  for (const Trouble& one : all_) {
    const auto end = one.hosts.begin() + static_cast<std::ptrdiff_t>(std::min(one.hosts.size(), kMostHosts));
    text += fmt::format("mpiexec: {}", fmt::join(one.hosts.begin(), end, ", "));
    if (end != one.hosts.end()) text += fmt::format(" and {} more hosts", one.hosts.end() - end);
    text += fmt::format(": {}\n", one.what);
  }
  return text;
}

}  // namespace clump::mpiexec
