#include <algorithm>
#include <cmath>
#include <map>

#include "tune.h"

namespace clump::tools {

namespace {

using coll::Algorithm;
using coll::Collective;
using Samples = std::vector<const Sample*>;  // of one collective and one size

// Less than this is no difference.
constexpr double kNoise = 1.10;
// Sizes that are so many times as large as the last one that was measured are still like it.
constexpr double kBeyond = 2;

const Sample* of(const Samples& samples, Algorithm algorithm) {
  const auto found = std::ranges::find(samples, algorithm, &Sample::algorithm);
  return found == samples.end() ? nullptr : *found;
}

/// One is cheaper than the other by more than the noise, also than what the rounds of each differ by.
bool is_cheaper(const Sample& one, const Sample& other) {
  return one.median * kNoise < other.median && one.high < other.low;
}

/// The shipped choice if nothing is cheaper, then that of the size before, then the cheapest.
const Sample& choose(const Samples& samples, Algorithm shipped, const Sample* before) {
  const Sample& cheapest = **std::ranges::min_element(samples, {}, &Sample::median);
  if (const Sample* const own = of(samples, shipped); own == nullptr || !is_cheaper(cheapest, *own))
    return own == nullptr ? cheapest : *own;
  const Sample* const same = before != nullptr ? of(samples, before->algorithm) : nullptr;
  return same != nullptr && same->algorithm != shipped && same->median <= cheapest.median * kNoise ? *same
                                                                                                   : cheapest;
}

Count middle(Count low, Count high) {
  return std::llround(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
}

/// The changes of one collective in one setting; their rules have no bounds for ranks yet.
std::vector<Change> changes_of(const Setting& setting, Collective collective,
                               const std::map<Count, Samples>& by_size) {
  std::vector<Change> changes;
  const Sample* before = nullptr;
  bool goes_on = false;  // the last change, with the next size
  for (auto at = by_size.begin(); at != by_size.end(); ++at) {
    const auto& [bytes, samples] = *at;
    const Algorithm shipped = coll::select(collective, situation_of(setting, collective, bytes));
    const Sample& chosen = choose(samples, shipped, before);
    goes_on = goes_on && chosen.algorithm != shipped && before->algorithm == chosen.algorithm;
    before = &chosen;
    if (chosen.algorithm == shipped) continue;
    if (!goes_on) {
      Change& made =
          changes.emplace_back(Change{{collective, chosen.algorithm}, setting.ranks, shipped, bytes});
      made.rule.where = setting.where;
      made.rule.from_bytes = at == by_size.begin() ? 0 : middle(std::prev(at)->first, bytes);
    }
    goes_on = true;
    Change& change = changes.back();
    const double above = std::next(at) == by_size.end()
                             ? static_cast<double>(bytes) * kBeyond
                             : static_cast<double>(middle(bytes, std::next(at)->first));
    change.rule.below_bytes = static_cast<Count>(above);
    const double was = of(samples, shipped)->median;
    if (change.before == 0 || was / chosen.median > change.before / change.after) {
      change.shipped = shipped;
      change.bytes = bytes;
      change.before = was;
      change.after = chosen.median;
    }
  }
  return changes;
}

/// What the algorithm needs, and was measured with.
void limit(coll::Rule& rule) {
  const coll::Limits limits = *coll::limits_of(rule.collective, rule.algorithm);
  if (limits.below_bytes != 0) rule.below_bytes = std::min(rule.below_bytes, limits.below_bytes);
  if (coll::combines(rule.collective)) rule.operations = coll::Operations::kPredefined;
}

/// Numbers of ranks between two that were measured are like the nearer one, by their ratio.
void bound(coll::Rule& rule, const std::vector<int>& ranks) {
  const auto at = std::ranges::find(ranks, rule.up_to_ranks);
  const auto up_to = [&](auto one) {
    return std::next(one) == ranks.end() ? *one * 2 : static_cast<int>(middle(*one, *std::next(one)));
  };
  rule.up_to_ranks = up_to(at);
  const int least = *at > 2 ? (*at + 1) / 2 : 0;
  rule.from_ranks = at == ranks.begin() ? least : up_to(std::prev(at)) + 1;
}

}  // namespace

std::vector<Change> derive_changes(std::span<const Measured> all) {
  std::vector<Change> changes;
  std::map<coll::Where, std::vector<int>> ranks;
  for (const Measured& measured : all) {
    ranks[measured.setting.where].push_back(measured.setting.ranks);
    std::map<Collective, std::map<Count, Samples>> samples;
    for (const Sample& sample : measured.samples) samples[sample.collective][sample.bytes].push_back(&sample);
    for (const auto& [collective, by_size] : samples)
      std::ranges::move(changes_of(measured.setting, collective, by_size), std::back_inserter(changes));
  }
  for (auto& [where, measured] : ranks) std::ranges::sort(measured);
  for (Change& change : changes) {
    limit(change.rule);
    change.rule.up_to_ranks = change.ranks;
    bound(change.rule, ranks[change.rule.where]);
  }
  std::ranges::stable_sort(changes, {}, [](const Change& change) {
    return std::tuple(change.rule.collective, change.rule.where, change.ranks, change.rule.from_bytes);
  });
  return changes;
}

std::vector<coll::Rule> rules_of(std::span<const Change> changes) {
  std::vector<coll::Rule> rules;
  for (const Change& change : changes) {
    const auto before = std::ranges::find_if(rules, [&](coll::Rule rule) {
      const bool goes_on = rule.up_to_ranks + 1 == change.rule.from_ranks;
      rule.from_ranks = change.rule.from_ranks;
      rule.up_to_ranks = change.rule.up_to_ranks;
      return goes_on && rule == change.rule;
    });
    if (before == rules.end())
      rules.push_back(change.rule);
    else
      before->up_to_ranks = change.rule.up_to_ranks;
  }
  return rules;
}

}  // namespace clump::tools
