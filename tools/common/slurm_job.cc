#include "common/slurm_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <utility>

namespace clump::tools {

namespace {

constexpr std::size_t kMostHosts = 1 << 20;

bool read_count(std::string_view text, int& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && number >= 0;
}

/// At commas outside of brackets.
std::vector<std::string_view> pieces_of(std::string_view list) {
  std::vector<std::string_view> pieces;
  for (std::size_t from = 0, at = 0, depth = 0; at <= list.size(); ++at) {
    if (at == list.size() || (list[at] == ',' && depth == 0)) {
      if (at > from) pieces.push_back(list.substr(from, at - from));
      from = at + 1;
    } else if (list[at] == '[') {
      ++depth;
    } else if (list[at] == ']' && depth > 0) {
      --depth;
    }
  }
  return pieces;
}

/// "08-11,20": 08, 09, 10, 11, 20.
std::vector<std::string> members_of(std::string_view ranges) {
  std::vector<std::string> all;
  for (const std::string_view one : pieces_of(ranges)) {
    const std::size_t dash = std::min(one.find('-'), one.size());
    int from = 0, to = 0;
    if (!read_count(one.substr(0, dash), from) || !read_count(one.substr(std::min(dash + 1, one.size())), to))
      to = from;
    for (std::int64_t number = from; number <= to && all.size() < kMostHosts; ++number)
      all.push_back(fmt::format("{:0{}}", number, dash));
  }
  return all;
}

std::string_view text_of_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value != nullptr ? value : "";
}

int number_in(const std::string& variable) {
  int number = 0;
  return read_count(text_of_variable(variable), number) ? number : 0;
}

/// `suffix`: behind the names of a component's variables. In a step Slurm tells the tasks of the step, which
/// may have fewer hosts: then each of the job's has as many slots as tasks fit onto its cores.
SlurmComponent component(const std::string& suffix) {
  SlurmComponent made{names_of_list(text_of_variable("SLURM_JOB_NODELIST" + suffix)), {}};
  made.slots = numbers_of_list(text_of_variable("SLURM_TASKS_PER_NODE" + suffix));
  if (made.slots.size() == made.names.size()) return made;
  made.slots = numbers_of_list(text_of_variable("SLURM_JOB_CPUS_PER_NODE" + suffix));
  const int cores = std::max(1, number_in("SLURM_CPUS_PER_TASK" + suffix));
  for (int& one : made.slots) one = std::max(1, one / cores);
  if (made.slots.size() != made.names.size()) made.slots.clear();
  return made;
}

}  // namespace

std::vector<SlurmComponent> slurm_components() {
  const int count = number_in("SLURM_HET_SIZE");
  std::vector<SlurmComponent> all;
  for (int i = 0; i < count; ++i) {
    all.push_back(component(fmt::format("_HET_GROUP_{}", i)));
    if (!all.back().names.empty()) continue;
    all.pop_back();
    break;
  }
  // A step that does not see the variables of the components knows its own one.
  if (SlurmComponent own = component(""); all.empty() && !own.names.empty()) all.push_back(std::move(own));
  return all;
}

std::vector<std::string> names_of_list(std::string_view list) {
  std::vector<std::string> all;
  for (std::string_view piece : pieces_of(list)) {
    std::vector<std::string> names{""};
    while (!piece.empty()) {
      const std::size_t begin = std::min(piece.find('['), piece.size());
      const std::size_t end = std::min(piece.find(']', begin), piece.size());
      std::vector<std::string> longer;
      const std::vector<std::string> members = begin < piece.size()
                                                   ? members_of(piece.substr(begin + 1, end - begin - 1))
                                                   : std::vector<std::string>{""};
      for (const std::string& name : names)
        for (const std::string& member : members)
          if (longer.size() < kMostHosts)
            longer.push_back(name + std::string(piece.substr(0, begin)) + member);
      names = std::move(longer);
      piece.remove_prefix(std::min(end + 1, piece.size()));
    }
    all.insert(all.end(), names.begin(), names.end());
  }
  return all;
}

std::vector<int> numbers_of_list(std::string_view list) {
  std::vector<int> all;
  for (const std::string_view piece : pieces_of(list)) {
    const std::size_t times = std::min(piece.find("(x"), piece.size());
    int number = 0, count = 1;
    if (!read_count(piece.substr(0, times), number)) return {};
    if (times < piece.size() && !read_count(piece.substr(times + 2, piece.size() - times - 3), count))
      return {};
    all.insert(all.end(), std::min<std::size_t>(static_cast<std::size_t>(count), kMostHosts), number);
  }
  return all;
}

}  // namespace clump::tools
