#include "cluster/prterun_output_filter.h"

#include <fmt/format.h>
#include <netdb.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kShortestRule = 40;

bool is_rule(std::string_view line) {
  return line.size() > kShortestRule && line.find_first_not_of('-') == line.size() - 1;
}

/// What PRRTE says of a process or a host that has failed; our own report says it.
bool repeats_report(std::string_view line) {
  return line.starts_with("prterun detected that one or more processes exited") ||
         line.starts_with("prterun noticed that process rank") ||
         line.starts_with("PRTE has lost communication with a remote daemon");
}

/// Without consequences: a race between prterun and the ssh that it starts, what libevent says of descriptors
/// that prterun has closed, and what follows from a failure.
bool is_noise(std::string_view line) {
  return line.find("plm:ssh: Warning: setpgid(") != line.npos || line.starts_with("[warn] Epoll ") ||
         (line.starts_with('[') &&
          (line.find("] PRTE ERROR: ") != line.npos || line.find("] PMIX ERROR: ") != line.npos));
}

bool has_address(const std::string& host) {
  addrinfo* found = nullptr;
  if (::getaddrinfo(host.c_str(), nullptr, nullptr, &found) != 0) return false;
  ::freeaddrinfo(found);
  return true;
}

/// Separated by "or".
template <typename Which>
std::string some_of(const std::vector<std::string>& hosts, Which which) {
  std::string names;
  for (std::size_t host = 0; host < hosts.size(); ++host)
    if (which(host)) names += (names.empty() ? "" : " or ") + hosts[host];
  return names;
}

}  // namespace

std::string PrterunOutputFilter::add(std::string_view bytes) {
  std::string shown;
  for (std::size_t end; (end = bytes.find('\n')) != bytes.npos; bytes.remove_prefix(end + 1)) {
    partial_ += bytes.substr(0, end + 1);
    shown += take_line(std::exchange(partial_, {}));
  }
  partial_ += bytes;
  return shown;
}

std::string PrterunOutputFilter::finish() {
  std::erase(partial_, '\0');
  const bool blank = partial_.find_first_not_of(' ') == partial_.npos;
  return std::exchange(rule_, {}) + (blank ? std::string() : std::exchange(partial_, {}));
}

std::string PrterunOutputFilter::take_line(std::string line) {
  std::erase(line, '\0');  // PRRTE writes the end of a string, too
  if (take_final_status(line) || is_noise(line)) return {};
  if (hosts_.size() > 1 && line.starts_with("mpiexec: ") && !said_.insert(line).second) return {};
  look_for_lost(line);
  if (in_dropped_) {
    in_dropped_ = !is_rule(line);
    return {};
  }
  if (!rule_.empty() && repeats_report(line)) {
    in_dropped_ = true;
    rule_.clear();
    return {};
  }
  std::string before = std::exchange(rule_, {});
  if (is_rule(line)) return rule_ = std::move(line), before;
  return before + line;
}

bool PrterunOutputFilter::take_final_status(std::string_view line) {
  if (token_.empty() || !line.starts_with(token_)) return false;
  if (troubles_.take(line.substr(token_.size()), has_begun_)) return true;
  std::size_t host = 0;
  char end = 0;
  int code = 0;
  if (std::sscanf(std::string(line.substr(token_.size())).c_str(), " %zu %c %d", &host, &end, &code) != 3 ||
      host >= ends_.size())
    return true;
  if (HostStatus{end} == HostStatus::kBegun) {
    has_begun_ = true;
  } else {
    ends_[host] = HostStatus{end};
    if (code_ == 0) code_ = code;
  }
  return true;
}

/// "  Remote host:   NAME" or "  Remote daemon: [...] on node NAME".
void PrterunOutputFilter::look_for_lost(const std::string& line) {
  if (!lost_.empty() || line.find("  Remote ") != 0) return;
  const std::size_t end = line.find_last_not_of(" \n");
  const std::string name = line.substr(0, end + 1).substr(line.find_last_of(' ', end) + 1);
  if (std::ranges::find(hosts_, name) != hosts_.end()) lost_ = name;
}

std::string PrterunOutputFilter::missing() const {
  static constexpr const char* kLost = "lost {}: the host, its network or PRRTE's daemon there is gone";
  if (!lost_.empty()) return fmt::format(kLost, lost_);
  const auto is_silent = [this](std::size_t host) { return ends_[host] == HostStatus::kUnknown; };
  const std::string silent = some_of(hosts_, is_silent);
  if (silent.empty()) return {};
  if (std::ranges::any_of(ends_, [](HostStatus end) { return end != HostStatus::kUnknown; }))
    return fmt::format(kLost, silent);
  const std::string nameless =
      some_of(hosts_, [this](std::size_t host) { return !has_address(hosts_[host]); });
  if (nameless.empty())
    return fmt::format("no host has begun: prterun, which has said why, could not reach {}", silent);
  return fmt::format("no host has begun: no address is known for {}", nameless);
}

std::string final_status(const std::string& token, int host, HostStatus end, int code) {
  return fmt::format("{} {} {} {}\n", token, host, static_cast<char>(end), code);
}

}  // namespace clump::mpiexec
