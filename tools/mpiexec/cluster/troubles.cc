#include "cluster/troubles.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <climits>
#include <sstream>

namespace clump::mpiexec {

namespace {

constexpr std::string_view kMark = " ! ";
constexpr std::size_t kMostHosts = 8;  ///< of one kind are named

}  // namespace

std::string trouble_line(const std::string& token, Finder finder, const std::string& host, int code,
                         const std::string& what) {
  std::string line =
      fmt::format("{}{}{} {} {} {}", token, kMark, static_cast<char>(finder), code, host, what);
  std::ranges::replace(line, '\n', ' ');
  line.resize(std::min<std::size_t>(line.size(), PIPE_BUF - 1));  // others' lines do not come in between
  return line + '\n';
}

bool Troubles::take(std::string_view line, bool has_begun) {
  if (!line.starts_with(kMark)) return false;
  std::istringstream in{std::string(line.substr(kMark.size()))};
  int code = 0;
  char finder = 0;
  std::string host, what;
  if (!(in >> finder >> code >> host) || !std::getline(in >> std::ws, what)) return false;
  if (has_begun && Finder{finder} == Finder::kStarter) return true;
  const auto same = std::ranges::find_if(
      all_, [&](const Trouble& known) { return known.what == what && known.code == code; });
  if (same == all_.end())
    all_.push_back({{host}, code, what});
  else if (std::ranges::find(same->hosts, host) == same->hosts.end())
    same->hosts.push_back(host);
  return true;
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
