#include "hosts.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>

namespace clump::mpiexec {

namespace {

constexpr int kMostSlots = 1 << 20;

void add(std::vector<Host>& hosts, const Host& host) {
  const auto known = std::ranges::find(hosts, host.name, &Host::name);
  if (known == hosts.end()) return hosts.push_back(host);
  // A host that is named twice without a number means two slots, in every launcher.
  known->slots = std::max(known->slots, 1) + std::max(host.slots, 1);
}

bool parse_slots(const std::string& text, int& slots) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  return error == std::errc() && end == text.data() + text.size() && slots >= 1 && slots <= kMostSlots;
}

base::Status parse_host(const std::string& option, const std::string& text, Host& host) {
  const std::size_t colon = text.find(':');
  host.name = text.substr(0, colon);
  if (host.name.empty() || host.name[0] == '-')
    return base::fail(MPI_ERR_ARG, "{}: '{}' is no host; write NAME or NAME:N", option, text);
  if (colon != std::string::npos && !parse_slots(text.substr(colon + 1), host.slots))
    return base::fail(MPI_ERR_ARG, "{}: '{}': the number of ranks behind ':' must be from 1 to {}", option,
                      text, kMostSlots);
  return {};
}

}  // namespace

base::Status parse_hosts(const std::string& option, const std::string& list, std::vector<Host>& hosts) {
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    Host host;
    CLUMP_TRY(parse_host(option, one, host));
    add(hosts, host);
  }
  if (hosts.empty()) return base::fail(MPI_ERR_ARG, "{} '{}': no host is named", option, list);
  return {};
}

base::Status read_hostfile(const std::string& option, const std::string& path, std::vector<Host>& hosts) {
  std::ifstream file(path);
  if (!file) return base::fail(MPI_ERR_ARG, "{} {}: {}", option, path, std::strerror(errno));
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line.substr(0, line.find('#')));
    std::string word;
    if (!(words >> word)) continue;
    Host host;
    const std::string where = fmt::format("{} {}, line {}", option, path, number);
    CLUMP_TRY(parse_host(where, word, host));
    while (words >> word) {
      const std::size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      if (key != "slots" && key != "max_slots" && key != "max-slots")
        return base::fail(MPI_ERR_ARG, "{}: '{}' is not understood; write NAME slots=N", where, word);
      int most = 0;  // of no use here: more ranks than slots are welcome
      if (equals == std::string::npos ||
          !parse_slots(word.substr(equals + 1), key == "slots" ? host.slots : most))
        return base::fail(MPI_ERR_ARG, "{}: '{}': the number must be from 1 to {}", where, word, kMostSlots);
    }
    add(hosts, host);
  }
  if (hosts.empty()) return base::fail(MPI_ERR_ARG, "{} {}: no host is named in it", option, path);
  return {};
}

namespace {

/// How many ranks fit on each host; together `ranks` or more. Of equal parts the larger ones come first where
/// hosts take turns.
std::vector<int> rooms_of(const std::vector<Host>& hosts, int per_host, int ranks, MapBy by) {
  if (per_host > 0) return std::vector<int>(hosts.size(), per_host);
  const bool any_slots = std::ranges::any_of(hosts, [](const Host& host) { return host.slots > 0; });
  if (!any_slots && by == MapBy::kNode) return std::vector<int>(hosts.size(), ranks);
  std::vector<int> slots;
  for (const Host& host : hosts) slots.push_back(std::max(host.slots, 1));
  const std::int64_t all = std::accumulate(slots.begin(), slots.end(), std::int64_t{0});
  if (any_slots && ranks <= all) return slots;
  std::int64_t before = 0;
  for (int& room : slots) {
    const std::int64_t after = before + room;
    room = static_cast<int>(ranks * after / all - ranks * before / all);
    before = after;
  }
  return slots;
}

}  // namespace

base::Status divide(const std::vector<Host>& hosts, int per_host, int ranks, MapBy by,
                    std::vector<int>& host_of) {
  if (per_host > 0 && static_cast<std::int64_t>(per_host) * static_cast<std::int64_t>(hosts.size()) < ranks)
    return base::fail(MPI_ERR_ARG, "{} ranks on {} hosts with {} on each (--ppn): at most {} can be", ranks,
                      hosts.size(), per_host, per_host * hosts.size());
  std::vector<int> rooms = rooms_of(hosts, per_host, ranks, by);
  host_of.clear();
  for (int host = 0; static_cast<int>(host_of.size()) < ranks;) {
    int& room = rooms[static_cast<std::size_t>(host)];
    if (room > 0) {
      --room;
      host_of.push_back(host);
    }
    if (room == 0 || by == MapBy::kNode) host = (host + 1) % static_cast<int>(hosts.size());
  }
  return {};
}

}  // namespace clump::mpiexec
