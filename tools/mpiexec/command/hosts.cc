#include "command/hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>
#include <utility>

#include "common/text_file.h"

namespace clump::mpiexec {

namespace {

constexpr int kMostSlots = 1 << 20;

bool parse_slots(std::string_view text, int least, int& slots) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), slots);
  return error == std::errc() && end == text.data() + text.size() && slots >= least && slots <= kMostSlots;
}

bool is_ipv6(const std::string& text) {
  in6_addr address;
  return ::inet_pton(AF_INET6, text.substr(0, text.find('%')).c_str(), &address) == 1;
}

/// Of a host, as ssh and resolvers take it: none that separates names, or that a shell or a file of another
/// kind has.
bool may_be_of_a_name(char c) {
  return std::iscntrl(static_cast<unsigned char>(c)) == 0 &&
         std::string_view(" ,;=/\\[](){}<>$&|*?!'\"`^~#+").find(c) == std::string_view::npos;
}

/// NAME, NAME:N, an IPv6 address, or [IPv6 address]:N. `slots` stays as it is where no number is given.
base::Status parse_host(const std::string& option, const std::string& text, int least, std::string& name,
                        int& slots) {
  std::string_view number;
  if (text.starts_with('[')) {
    const std::size_t end = text.find(']');
    name = text.substr(1, end == text.npos ? end : end - 1);
    const std::string_view rest = std::string_view(text).substr(std::min(end, text.size() - 1) + 1);
    if (end == text.npos || !is_ipv6(name) || (!rest.empty() && rest[0] != ':'))
      return base::fail(MPI_ERR_ARG, "{}: '{}' is no host; write an IPv6 address as [ADDRESS] or [ADDRESS]:N",
                        option, text);
    if (rest.empty()) return {};
    number = rest.substr(1);
  } else if (is_ipv6(text)) {
    name = text;
    return {};
  } else {
    const std::size_t colon = text.find(':');
    name = text.substr(0, colon);
    if (name.empty() || name[0] == '-' || !std::ranges::all_of(name, may_be_of_a_name))
      return base::fail(MPI_ERR_ARG, "{}: '{}' is no host; write NAME or NAME:N, with commas between hosts{}",
                        option, text,
                        name.find('[') == name.npos ? "" : " (h[1-2] is not expanded: write h1,h2)");
    if (colon == text.npos) return {};
    number = std::string_view(text).substr(colon + 1);
  }
  if (parse_slots(number, least, slots)) return {};
  return base::fail(MPI_ERR_ARG, "{}: '{}': the number of ranks behind ':' must be from {} to {}", option,
                    text, least, kMostSlots);
}

/// Without comment, byte order mark, and blanks around '='.
std::string tidy(std::string line) {
  if (line.starts_with("\xef\xbb\xbf")) line.erase(0, 3);
  line.resize(std::min(line.find('#'), line.size()));
  std::string text;
  for (const char c : line) {
    const bool is_blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (is_blank && (text.ends_with('=') || text.empty())) continue;
    if (c == '=') text.resize(text.find_last_not_of(" \t\r") + 1);
    text += c;
  }
  return text;
}

constexpr std::string_view kSlots[] = {"slots", "slot", "cpus", "cpu", "count"};

/// How many ranks may be there, of which no launcher asks here: more than slots are welcome.
bool is_maximum(std::string key) {
  std::ranges::replace(key, '-', '_');
  return std::ranges::any_of(kSlots, [&](std::string_view slots) {
    return key == fmt::format("max_{}", slots) || key == fmt::format("{}_max", slots);
  });
}

/// A line of a host file; `slots` stays -1 where it gives no number.
base::Status parse_line(const std::string& where, const std::string& line, std::string& name, int& slots,
                        std::vector<std::string>& without_meaning) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  CLUMP_TRY(parse_host(where, word, 0, name, slots));
  while (words >> word) {
    const std::size_t equals = word.find('=');
    const std::string key = word.substr(0, equals);
    if (equals == word.npos || std::isalpha(static_cast<unsigned char>(key[0])) == 0)
      return base::fail(MPI_ERR_ARG, "{}: '{}' is not understood; write NAME slots=N", where, word);
    const bool is_slots = std::ranges::find(kSlots, key) != std::end(kSlots);
    int most = 0;
    if ((is_slots || is_maximum(key)) && !parse_slots(word.substr(equals + 1), 0, is_slots ? slots : most))
      return base::fail(MPI_ERR_ARG, "{}: '{}': the number must be from 0 to {}", where, word, kMostSlots);
    if (!is_slots && !is_maximum(key) && std::ranges::find(without_meaning, key) == without_meaning.end())
      without_meaning.push_back(key);
  }
  return {};
}

}  // namespace

// A host that is named twice without a number means two slots, in every launcher.
void add_to(Host& host, const Host& once_more) {
  const std::int64_t all = std::int64_t{std::max(host.slots, 1)} + std::max(once_more.slots, 1);
  host.slots = static_cast<int>(std::min<std::int64_t>(all, std::numeric_limits<int>::max()));
  host.turns.insert(host.turns.end(), once_more.turns.begin(), once_more.turns.end());
}

std::size_t places_of(const std::vector<Host>& hosts) {
  std::size_t places = 0;
  for (const Host& one : hosts) places += one.turns.size();
  return places;
}

void add_host(std::vector<Host>& hosts, Host host) {
  host.turns = {{places_of(hosts), host.slots}};
  const auto known = std::ranges::find(hosts, host.name, &Host::name);
  if (known == hosts.end()) return hosts.push_back(std::move(host));
  add_to(*known, host);
}

base::Status parse_hosts(const std::string& option, const std::string& list, std::vector<Host>& hosts) {
  std::istringstream in(list);
  for (std::string one; std::getline(in, one, ',');) {
    one.erase(0, one.find_first_not_of(" \t"));
    one.erase(one.find_last_not_of(" \t") + 1);
    Host host;
    CLUMP_TRY(parse_host(option, one, 1, host.name, host.slots));
    add_host(hosts, std::move(host));
  }
  if (hosts.empty()) return base::fail(MPI_ERR_ARG, "{} '{}': no host is named", option, list);
  return {};
}

base::Status read_hostfile(const std::string& option, const std::string& path, std::vector<Host>& hosts,
                           std::vector<std::string>& without_meaning) {
  std::string text, why;
  if (!tools::read_file(path, text, why)) return base::fail(MPI_ERR_ARG, "{} {}: {}", option, path, why);
  std::istringstream file(text);
  int number = 0, without_slots = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    line = tidy(std::move(line));
    if (line.empty()) continue;
    std::string name;
    int slots = -1;
    CLUMP_TRY(
        parse_line(fmt::format("{} {}, line {}", option, path, number), line, name, slots, without_meaning));
    if (slots == 0)
      ++without_slots;
    else
      add_host(hosts, {.name = name, .slots = std::max(slots, 0)});
  }
  if (!hosts.empty()) return {};
  if (without_slots > 0)
    return base::fail(MPI_ERR_ARG, "{} {}: every host in it has 0 slots, so no rank can be anywhere", option,
                      path);
  return base::fail(MPI_ERR_ARG, "{} {}: no host is named in it", option, path);
}

bool have_slots(const std::vector<Host>& hosts) {
  return std::ranges::any_of(hosts, [](const Host& host) { return host.slots > 0; });
}

base::Status check_slots(const std::vector<Host>& hosts, const std::vector<int>& host_of) {
  for (int number = 0; const Host& host : hosts) {
    const auto ranks = std::ranges::count(host_of, number++);
    if (const int slots = std::max(host.slots, 1); ranks > slots)
      return base::fail(MPI_ERR_ARG, "--nooversubscribe: {} ranks on {} are more than its slots, {}", ranks,
                        host.name, slots);
  }
  return {};
}

namespace {

/// A host, each time that it is named.
struct Block {
  std::size_t place;
  int host;
  int room;  ///< so many ranks fit there
};

std::vector<Block> blocks_of(const std::vector<Host>& hosts, int per_host) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const int number = static_cast<int>(i);
    const std::vector<Host::Turn>& turns = hosts[i].turns;
    if (per_host > 0 || turns.empty())
      blocks.push_back({turns.empty() ? i : turns.front().place, number,
                        per_host > 0 ? per_host : std::max(hosts[i].slots, 1)});
    else
      for (const Host::Turn& turn : turns) blocks.push_back({turn.place, number, std::max(turn.slots, 1)});
  }
  std::ranges::stable_sort(blocks, {}, &Block::place);
  return blocks;
}

/// With rooms for `ranks` ranks together, or more. Of equal parts the larger ones come first.
std::vector<Block> rooms_of(const std::vector<Host>& hosts, int per_host, int ranks, MapBy by) {
  std::vector<Block> blocks = blocks_of(hosts, per_host);
  if (per_host > 0) return blocks;
  const bool any_slots = have_slots(hosts);
  const bool all_fit = !any_slots && by == MapBy::kNode;
  std::int64_t all = 0, before = 0;
  for (const Block& block : blocks) all += block.room;
  if (any_slots && ranks <= all) return blocks;
  for (Block& block : blocks) {
    const std::int64_t after = before + block.room;
    const std::int64_t part = (ranks * after + all - 1) / all - (ranks * before + all - 1) / all;
    block.room = all_fit ? ranks : static_cast<int>(part);
    before = after;
  }
  return blocks;
}

}  // namespace

base::Status divide(const std::vector<Host>& hosts, int per_host, int ranks, MapBy by,
                    std::vector<int>& host_of) {
  if (per_host > 0 && static_cast<std::int64_t>(per_host) * static_cast<std::int64_t>(hosts.size()) < ranks)
    return base::fail(MPI_ERR_ARG, "{} ranks on {} hosts with {} on each (--ppn): at most {} can be", ranks,
                      hosts.size(), per_host, per_host * hosts.size());
  std::vector<Block> blocks = rooms_of(hosts, per_host, ranks, by);
  host_of.clear();
  for (std::size_t at = 0; static_cast<int>(host_of.size()) < ranks;) {
    Block& block = blocks[at];
    if (block.room > 0) {
      --block.room;
      host_of.push_back(block.host);
    }
    if (block.room == 0 || by == MapBy::kNode) at = (at + 1) % blocks.size();
  }
  return {};
}

namespace {

/// The host as it is named at these places; nothing: it is not.
std::optional<Host> named_at(const Host& host, HostRange places) {
  if (host.turns.empty()) return host;
  std::optional<Host> own;
  for (const Host::Turn& turn : host.turns) {
    if (turn.place < places.begin || turn.place >= places.end) continue;
    const Host once{.name = host.name, .slots = turn.slots, .turns = {turn}};
    if (own)
      add_to(*own, once);
    else
      own = once;
  }
  return own;
}

}  // namespace

std::int64_t slots_of(const std::vector<Host>& hosts, HostRange places) {
  std::int64_t all = 0;
  for (const Host& host : hosts)
    if (const std::optional<Host> own = named_at(host, places)) all += std::max(own->slots, 1);
  return all;
}

base::Status divide(const std::vector<Host>& hosts, int per_host, const std::vector<RanksOnHosts>& ranks,
                    MapBy by, std::vector<int>& host_of) {
  host_of.clear();
  for (const RanksOnHosts& some : ranks) {
    std::vector<Host> own;
    std::vector<int> numbers, found;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      std::optional<Host> one = named_at(hosts[i], some.hosts);
      if (!one) continue;
      own.push_back(std::move(*one));
      numbers.push_back(static_cast<int>(i));
    }
    CLUMP_TRY(divide(own, per_host, some.ranks, by, found));
    for (const int one : found) host_of.push_back(numbers[static_cast<std::size_t>(one)]);
  }
  return {};
}

void renumber(std::span<int> host_of, MapBy by) {
  std::vector<std::pair<int, int>>
      left;  // the hosts in the order of their first ranks, and how many each gets
  for (const int host : host_of) {
    const auto known = std::ranges::find(left, host, &std::pair<int, int>::first);
    if (known != left.end())
      ++known->second;
    else
      left.emplace_back(host, 1);
  }
  std::size_t at = 0;
  for (int& host : host_of) {
    while (left[at].second == 0) at = (at + 1) % left.size();
    host = left[at].first;
    if (--left[at].second == 0 || by == MapBy::kNode) at = (at + 1) % left.size();
  }
}

void keep_used(std::vector<Host>& hosts, int per_host, const std::vector<RanksOnHosts>& ranks, MapBy by) {
  std::vector<int> host_of;
  if (hosts.empty() || !divide(hosts, per_host, ranks, by, host_of).ok() || host_of.empty()) return;
  hosts.resize(static_cast<std::size_t>(std::ranges::max(host_of)) + 1);
}

}  // namespace clump::mpiexec
