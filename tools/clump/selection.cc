#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "coll/select/rules.h"
#include "commands.h"
#include "common/output.h"
#include "common/rules_file.h"

namespace clump::tools {

namespace {

/// "4x4", "1+2+4" or "16": ranks by host. Empty if it is none of these.
std::vector<int> ranks_by_host(std::string_view shape) {
  const auto number = [](std::string_view text) {
    int value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size() && value <= 1'000'000 ? value : 0;
  };
  std::vector<int> ranks;
  if (const std::size_t times = shape.find('x'); times != std::string_view::npos) {
    ranks.assign(static_cast<std::size_t>(std::max(number(shape.substr(0, times)), 0)),
                 number(shape.substr(times + 1)));
  } else {
    for (std::size_t from = 0; from <= shape.size();) {
      const std::size_t to = std::min(shape.find('+', from), shape.size());
      ranks.push_back(number(shape.substr(from, to - from)));
      from = to + 1;
    }
  }
  if (std::ranges::any_of(ranks, [](int n) { return n <= 0; })) return {};
  return ranks;
}

void show_collective(coll::Collective collective, coll::Situation situation,
                     std::span<const coll::Rule> rules) {
  std::vector<Count> begins{0};
  for (const coll::Rule& rule : rules)
    if (rule.collective == collective) begins.insert(begins.end(), {rule.from_bytes, rule.below_bytes});
  std::ranges::sort(begins);
  const char* name = coll::name_of(collective);
  const char* last = nullptr;
  for (const Count begin : begins) {
    situation.bytes = begin;
    const char* const algorithm = coll::name_of(coll::select(collective, situation));
    if (algorithm == last) continue;
    last = algorithm;
    print_out("{:<16}{:<24}{}\n", name, algorithm, begin == 0 ? "" : "from " + coll::size_text(begin));
    name = "";
  }
}

/// What a job that is started here would go by. False, with a message, if there is a file that is wrong.
bool find_rules_here(RulesFile& file) {
  const base::Status found = find_rules({}, file);
  if (!found.ok()) print_error("clump: {}\n", base::message_of(found.code()));
  return found.ok();
}

std::string source_of(const RulesFile& file) {
  if (file.path.empty()) return "The rules are the shipped ones; clump tune measures others.";
  return fmt::format("In front are {} rules of {}; the others are shipped.", file.rules.size(), file.path);
}

}  // namespace

int show_selection() {
  RulesFile file;
  if (!find_rules_here(file)) return 2;
  print_out(
      "Within one group, the first line that fits decides; sizes are those of one rank's part.\n"
      "Lines with \"shm\" are for ranks of one address space, \"shm nonblocking\" for what does not "
      "block;\n"
      "\"two-stage\" is for ranks on several hosts.\n"
      "--shape 4x4 shows what that comes to for 4 hosts of 4 ranks; mpiexec --coll chooses otherwise.\n"
      "{}\n",
      source_of(file));
  const coll::Rule* previous = nullptr;
  const std::vector<coll::Rule> rules = coll::in_front_of_shipped(file.rules);
  for (const coll::Rule& rule : rules) {
    const bool same = previous != nullptr && previous->collective == rule.collective;
    print_out("{:<16}{:<24}{}\n", same ? "" : coll::name_of(rule.collective), coll::name_of(rule.algorithm),
              coll::condition_text(rule));
    previous = &rule;
  }
  return 0;
}

int show_selection(const std::string& shape) {
  const std::vector<int> ranks = ranks_by_host(shape);
  if (ranks.empty()) {
    print_error(
        "clump: --shape {}: ranks by host are written 4x4 (4 hosts of 4), 1+2+4, or 16 for one host\n",
        shape);
    return 2;
  }
  RulesFile file;
  if (!find_rules_here(file)) return 2;
  coll::use_rules(file.rules);
  coll::Situation situation{.ranks = 0, .bytes = 0};
  for (const int here : ranks) situation.ranks += here;
  situation.team = ranks.size() == 1;
  situation.where = situation.team ? coll::Where::kProcess : coll::Where::kAnywhere;
  situation.hosts = ranks.size() > 1 && std::ranges::max(ranks) > 1;
  print_out(
      "{} ranks on {} host{}, in one process a host; predefined operations; sizes are those of one rank's "
      "part.\n"
      "{}\n",
      situation.ranks, ranks.size(), ranks.size() == 1 ? "" : "s", source_of(file));
  const std::vector<coll::Rule> rules = coll::in_front_of_shipped(file.rules);
  for (int i = 0; i <= static_cast<int>(coll::Collective::kScan); ++i)
    show_collective(static_cast<coll::Collective>(i), situation, rules);
  if (!situation.hosts) return 0;
  using namespace coll::among_leaders;
  print_out(
      "Between hosts, two stages are by one leader for each host: recursive doubling below {0}, from there "
      "on\n"
      "rings. From {1} on every rank leads an allreduce for a piece of the data, if all hosts have as many "
      "ranks;\n"
      "from {2} on a broadcast is scattered and collected in a ring.\n",
      coll::size_text(kLittleData), coll::size_text(kAllLead), coll::size_text(kScatterFirst));
  return 0;
}

}  // namespace clump::tools
