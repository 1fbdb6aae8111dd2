#include "common/machine.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <tuple>

#include "common/control_groups.h"

namespace clump::tools {

namespace {

constexpr std::int32_t kMostProcessors = 1 << 16;

/// The list in a file; empty if there is none.
std::vector<std::int32_t> list_in(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  std::vector<std::int32_t> numbers;
  if (!std::getline(file, text) || !read_list(text, numbers)) return {};
  return numbers;
}

/// Which group each processor is in, for one kind of group. One member's file names all, so it is read once
/// for each group.
class Groups {
 public:
  /// `file_of(number)` is where the kernel lists the group of a processor.
  template <typename FileOf>
  std::int32_t of(std::int32_t number, std::int32_t unknown, FileOf file_of) {
    if (const auto known = group_.find(number); known != group_.end()) return known->second;
    const std::vector<std::int32_t> members = list_in(file_of(number));
    if (members.empty()) return group_[number] = unknown;
    const std::int32_t lowest = *std::min_element(members.begin(), members.end());
    for (const std::int32_t member : members) group_[member] = lowest;
    return group_[number] = lowest;
  }

 private:
  std::map<std::int32_t, std::int32_t> group_;
};

std::map<std::int32_t, std::int32_t> numa_nodes(const std::string& system) {
  std::map<std::int32_t, std::int32_t> node_of;
  for (const std::int32_t node : list_in(system + "/node/online")) {
    for (const std::int32_t number : list_in(fmt::format("{}/node/node{}/cpulist", system, node)))
      node_of[number] = node;
  }
  return node_of;
}

/// The directory of the cache that is farthest from the core.
std::string last_cache(const std::string& cpu) {
  std::string last;
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("{}/cache/index{}", cpu, index);
    if (!std::ifstream(folder + "/level").is_open()) break;
    last = folder;
  }
  return last;
}

}  // namespace

bool read_list(const std::string& text, std::vector<std::int32_t>& numbers) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const auto number = [&](std::int32_t& value) {
    const auto [next, error] = std::from_chars(at, end, value);
    at = next;
    return error == std::errc{} && value >= 0 && value < kMostProcessors;
  };
  for (;;) {
    std::int32_t first = 0;
    if (!number(first)) return false;
    std::int32_t last = first;
    if (at < end && *at == '-') {
      ++at;
      if (!number(last) || last < first) return false;
    }
    for (std::int32_t each = first; each <= last; ++each) numbers.push_back(each);
    if (at == end) return true;
    if (*at++ != ',') return false;
  }
}

std::string as_list(const std::vector<std::int32_t>& numbers) {
  std::string text;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[first]);
    if (last > first) text += fmt::format("-{}", numbers[last]);
    first = last + 1;
  }
  return text;
}

std::vector<Processor> describe(const std::vector<std::int32_t>& numbers, const std::string& system) {
  const std::map<std::int32_t, std::int32_t> node_of = numa_nodes(system);
  Groups cores, packages, caches;
  std::map<std::int32_t, std::int32_t> level_of;  // by group
  std::vector<Processor> all;
  for (const std::int32_t number : numbers) {
    const auto cpu = [&](std::int32_t which) { return fmt::format("{}/cpu/cpu{}", system, which); };
    const auto topology = [&](const char* file) {
      return [&cpu, file](std::int32_t which) { return cpu(which) + "/topology/" + file; };
    };
    Processor one;
    one.number = number;
    one.core = cores.of(number, number, topology("thread_siblings_list"));
    one.package = packages.of(number, 0, topology("core_siblings_list"));
    std::string folder;
    one.cache = caches.of(number, number, [&](std::int32_t which) {
      folder = last_cache(cpu(which));
      return folder + "/shared_cpu_list";
    });
    if (!folder.empty())
      level_of[one.cache] = static_cast<std::int32_t>(read_number(folder + "/level").value_or(0));
    if (const auto level = level_of.find(one.cache); level != level_of.end()) one.cache_level = level->second;
    if (const auto node = node_of.find(number); node != node_of.end()) one.node = node->second;
    all.push_back(one);
  }
  std::sort(all.begin(), all.end(), [](const Processor& a, const Processor& b) {
    return std::tie(a.package, a.node, a.cache, a.core, a.number) <
           std::tie(b.package, b.node, b.cache, b.core, b.number);
  });
  return all;
}

}  // namespace clump::tools
