#include "coll/select/select.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace clump::coll {

namespace {

using enum Collective;
using enum Algorithm;
using enum Operations;

// The shipped rules, from measurements. Operations that do not block come first, then those of ranks with
// memory in common, then hosts, then messages.
//
// - shm nonblocking is used where messages take longer. With few ranks and little data the root of an
//   operation by messages need not wait for the others (2 to 64 ranks on 2 cores).
// - two-stage: 4 hosts of 4 ranks; that of allgatherv is an estimate. Where leaders hold the data of their
//   whole host, the rule ends where the copies that this takes begin to count.
// - messages: ranks as threads of one process with fewer cores than ranks, so what counts is the number of
//   messages and of bytes moved, not the number of rounds.
constexpr int kManyRanks = 8;
constexpr Count kMuchData = 8 << 10;
constexpr Count kNodeRoom = 4097;  // a slot of a node team has room for less
constexpr Rule kRules[] = {
    {kBarrier, kShmNonblocking},
    {kBarrier, kNodeShm},
    {kBarrier, kShmBarrier},
    {kBarrier, kTwoStages},
    {kBarrier, kDissemination, {.up_to_ranks = 3}},
    {kBarrier, kDirect, {.up_to_ranks = 32}},
    {kBarrier, kDissemination},

    {kBroadcast, kShmNonblocking, {.from_ranks = kManyRanks}},
    {kBroadcast, kShmNonblocking, {.from_bytes = kMuchData}},
    {kBroadcast, kNodeShm, {.below_bytes = kNodeRoom}},
    {kBroadcast, kShmBcastRing, {.below_bytes = 481}},
    {kBroadcast, kShmLeader, {.below_bytes = 4 << 10}},
    {kBroadcast, kShmAll},
    {kBroadcast, kTwoStages},
    {kBroadcast, kBinomial, {.up_to_ranks = 32}},
    {kBroadcast, kBinomial, {.below_bytes = 512 << 10}},
    {kBroadcast, kScatterAllgather},

    {kReduce, kShmNonblocking, {.from_ranks = kManyRanks, .operations = kPredefined}},
    {kReduce, kShmNonblocking, {.from_bytes = kMuchData, .operations = kPredefined}},
    {kReduce, kNodeShm, {.below_bytes = kNodeRoom}},
    {kReduce, kShmSmall, {.below_bytes = 481}},
    {kReduce, kShmLeader, {.below_bytes = 4 << 10, .operations = kPredefined}},
    {kReduce, kShmAll, {.operations = kPredefined}},
    {kReduce, kTwoStages},
    {kReduce, kDirect, {.up_to_ranks = 32, .below_bytes = 512}},
    {kReduce, kBinomial, {.below_bytes = 2 << 20}},
    {kReduce, kBinomial, {.up_to_ranks = 3}},
    {kReduce, kRing, {.operations = kCommutative}},
    {kReduce, kBinomial},
    {kReduce, kChain},

    {kAllreduce, kShmNonblocking, {.from_ranks = 3, .operations = kPredefined}},
    {kAllreduce, kShmNonblocking, {.from_bytes = kMuchData, .operations = kPredefined}},
    {kAllreduce, kNodeShm, {.below_bytes = kNodeRoom}},
    {kAllreduce, kShmSmall, {.below_bytes = 481}},
    {kAllreduce, kShmLeader, {.below_bytes = 4 << 10, .operations = kPredefined}},
    {kAllreduce, kShmAll, {.operations = kPredefined}},
    {kAllreduce, kTwoStages},
    {kAllreduce, kRecursiveDoubling, {.up_to_ranks = 3, .below_bytes = 64 << 10}},
    {kAllreduce, kRing, {.up_to_ranks = 3, .operations = kCommutative}},
    {kAllreduce, kReduceBroadcast, {.below_bytes = 2 << 20}},
    {kAllreduce, kRing, {.operations = kCommutative}},
    {kAllreduce, kReduceBroadcast},

    {kGather, kShmNonblocking, {.from_ranks = kManyRanks}},
    {kGather, kShmNonblocking, {.from_bytes = kMuchData}},
    {kGather, kNodeShm, {.below_bytes = kNodeRoom}},
    {kGather, kShmLeader, {.below_bytes = 4 << 10}},
    {kGather, kShmAll},
    {kGather, kTwoStages, {.below_bytes = 16 << 10}},
    {kGather, kDirect, {.up_to_ranks = 32}},
    {kGather, kBinomial, {.below_bytes = 2 << 10}},
    {kGather, kDirect},

    // Of blocks that may differ in size no rank knows how much there is.
    {kGatherv, kShmNonblocking},
    {kGatherv, kShmLeader},
    {kGatherv, kTwoStages},
    {kGatherv, kDirect},

    {kScatter, kShmNonblocking, {.from_ranks = kManyRanks}},
    {kScatter, kShmNonblocking, {.from_bytes = kMuchData}},
    {kScatter, kNodeShm, {.below_bytes = kNodeRoom}},
    {kScatter, kShmLeader, {.below_bytes = 4 << 10}},
    {kScatter, kShmAll},
    {kScatter, kTwoStages, {.below_bytes = 16 << 10}},
    {kScatter, kDirect, {.up_to_ranks = 32}},
    {kScatter, kBinomial, {.below_bytes = 2 << 10}},
    {kScatter, kDirect},

    {kScatterv, kShmNonblocking},
    {kScatterv, kShmLeader},
    {kScatterv, kTwoStages},
    {kScatterv, kDirect},

    {kAllgather, kShmNonblocking, {.from_ranks = 3}},
    {kAllgather, kShmNonblocking, {.from_bytes = kMuchData}},
    {kAllgather, kNodeShm, {.below_bytes = kNodeRoom}},
    {kAllgather, kShmSmall, {.below_bytes = 481}},
    {kAllgather, kShmLeader, {.below_bytes = 4 << 10}},
    {kAllgather, kShmAll},
    {kAllgather, kTwoStages},
    {kAllgather, kBruck, {.up_to_ranks = 3, .below_bytes = 4 << 10}},
    {kAllgather, kGatherBroadcast, {.up_to_ranks = 32, .below_bytes = 8 << 10}},
    {kAllgather, kBruck, {.below_bytes = 1 << 10}},
    {kAllgather, kRing},

    {kAllgatherv, kShmNonblocking},
    {kAllgatherv, kShmLeader},
    {kAllgatherv, kTwoStages, {.below_bytes = 4 << 10}},
    {kAllgatherv, kRing},

    {kAlltoall, kShmNonblocking, {.from_ranks = 3}},
    {kAlltoall, kShmNonblocking, {.from_bytes = kMuchData}},
    {kAlltoall, kNodeShm, {.below_bytes = kNodeRoom}},
    {kAlltoall, kShmSmall, {.below_bytes = 481}},
    {kAlltoall, kShmLeader, {.below_bytes = 4 << 10}},
    {kAlltoall, kShmAll},
    {kAlltoall, kTwoStages, {.below_bytes = 4 << 10}},
    {kAlltoall, kDirect},

    {kAlltoallv, kShmNonblocking},
    {kAlltoallv, kShmLeader},
    {kAlltoallv, kTwoStages, {.up_to_ranks = 4096}},
    {kAlltoallv, kDirect},

    {kReduceScatter, kShmNonblocking, {.from_ranks = 3, .operations = kPredefined}},
    {kReduceScatter, kShmNonblocking, {.from_bytes = kMuchData, .operations = kPredefined}},
    {kReduceScatter, kShmLeader, {.below_bytes = 4 << 10, .operations = kPredefined}},
    {kReduceScatter, kShmAll, {.operations = kPredefined}},
    {kReduceScatter, kReduceThenScatter, {.below_bytes = 64 << 10}},
    {kReduceScatter, kDirect, {.operations = kCommutative}},
    {kReduceScatter, kReduceThenScatter},

    {kScan, kShmNonblocking, {.from_ranks = 3, .operations = kPredefined}},
    {kScan, kShmNonblocking, {.from_bytes = kMuchData, .operations = kPredefined}},
    {kScan, kShmLeader, {.below_bytes = 4 << 10, .operations = kPredefined}},
    {kScan, kShmAll, {.operations = kPredefined}},
    {kScan, kTwoStages},
    {kScan, kPrefixDoubling},
    {kScan, kChain},

    // Not all blocks are of one size, so that no rank knows how large those of the others are.
    {kNeighbours, kShmNonblocking},
    {kNeighbours, kShmLeader},
    {kNeighbours, kDirect},
};

constexpr std::size_t kWheres = static_cast<std::size_t>(Where::kNode) + 1;

/// Whether a rule is one for ranks that are there.
constexpr bool is_for(Where where, const Rule& rule) {
  return (rule.where == Where::kAnywhere || rule.where == where) && is_for(where, rule.algorithm);
}

// Where the rules of each collective begin.
using FirstRules = std::array<const Rule*, kCollectives>;

constexpr FirstRules first_of(std::span<const Rule> rules) {
  FirstRules first{};
  for (const Rule& rule : rules)
    if (auto& entry = first[static_cast<std::size_t>(rule.collective)]; entry == nullptr) entry = &rule;
  return first;
}

// A table for each Where, so that nobody passes by rules for others.
struct Shipped {
  std::array<Rule, std::size(kRules)> rules{};
  std::size_t count = 0;

  constexpr explicit Shipped(Where where) {
    for (const Rule& rule : kRules)
      if (is_for(where, rule)) rules[count++] = rule;
  }
  constexpr FirstRules first() const { return first_of({rules.data(), count}); }
};
constexpr Shipped kAnywhereTable(Where::kAnywhere), kProcessTable(Where::kProcess), kNodeTable(Where::kNode);
constinit std::array<FirstRules, kWheres> first_rules{kAnywhereTable.first(), kProcessTable.first(),
                                                      kNodeTable.first()};

/// Whether an algorithm combines operands from the last rank down to the first one, results of a scan from
/// the first one up, or leaves it to one that does.
bool keeps_one_order(Collective collective, Algorithm algorithm) {
  switch (algorithm) {
    case kNodeShm:
    case kShmNonblocking:
    case kShmLeader:
    case kShmAll:
    case kReduceBroadcast:
    case kReduceThenScatter:
    case kChain:
      return true;
    default:
      return algorithm == kDirect && collective == kReduce;
  }
}

/// There is room for so much and no more.
constexpr bool has_limit(Algorithm algorithm) {
  return algorithm == kShmBcastRing || algorithm == kShmSmall || algorithm == kNodeShm;
}

/// But for places, sizes and numbers of ranks.
bool suits(const Rule& rule, const Situation& is) {
  return (is.team || !is_for_teams(rule.algorithm)) && (is.node || rule.algorithm != kNodeShm) &&
         (is.nonblocking || rule.algorithm != kShmNonblocking) &&
         (is.carried || (rule.algorithm != kShmSmall && rule.algorithm != kShmBcastRing)) &&
         (is.hosts || rule.algorithm != kTwoStages) && rule.operations <= is.operation &&
         (!is.one_order || keeps_one_order(rule.collective, rule.algorithm));
}

}  // namespace

std::span<const Rule> shipped_rules() { return kRules; }

std::vector<Rule> in_front_of_shipped(std::span<const Rule> rules) {
  std::vector<Rule> all;
  for (int i = 0; i < kCollectives; ++i) {
    const auto belongs = [i](const Rule& rule) { return static_cast<int>(rule.collective) == i; };
    std::ranges::copy_if(rules, std::back_inserter(all), belongs);
    std::ranges::copy_if(kRules, std::back_inserter(all), belongs);
  }
  return all;
}

void use_rules(std::span<const Rule> rules) {
  static auto& tables = *new std::array<std::vector<Rule>, kWheres>;
  const std::vector<Rule> all = in_front_of_shipped(rules);
  for (std::size_t i = 0; i < kWheres; ++i) {
    tables[i].clear();
    std::ranges::copy_if(all, std::back_inserter(tables[i]),
                         [i](const Rule& rule) { return is_for(static_cast<Where>(i), rule); });
    first_rules[i] = first_of(tables[i]);
  }
}

std::optional<Limits> limits_of(Collective collective, Algorithm algorithm) {
  std::optional<Limits> limits;
  for (const Rule& rule : kRules) {
    if (rule.collective != collective || rule.algorithm != algorithm) continue;
    if (!limits) limits = Limits{has_limit(algorithm) ? rule.below_bytes : 0, rule.operations};
    limits->operations = std::min(limits->operations, rule.operations);
  }
  return limits;
}

namespace {

/// `rule`: the first one of the collective.
Algorithm first_that_fits(const Rule* rule, const Situation& is) {
  while (!suits(*rule, is) || (rule->below_bytes != 0 && is.bytes >= rule->below_bytes) ||
         (rule->up_to_ranks != 0 && is.ranks > rule->up_to_ranks) || is.bytes < rule->from_bytes ||
         is.ranks < rule->from_ranks)
    ++rule;
  return rule->algorithm;
}

}  // namespace

Algorithm select(Collective collective, const Situation& is) {
  return first_that_fits(
      first_rules[static_cast<std::size_t>(is.where)][static_cast<std::size_t>(collective)], is);
}

Algorithm select_shipped(Collective collective, const Situation& is) {
  static constexpr FirstRules kFirst = kAnywhereTable.first();
  return first_that_fits(kFirst[static_cast<std::size_t>(collective)], is);
}

Algorithm select(Collective collective, const Situation& is, Algorithm wanted) {
  if (wanted == kFlat) {
    Situation flat = is;
    flat.hosts = false;
    return select(collective, flat);
  }
  for (const Rule& rule : kRules)
    if (rule.collective == collective && rule.algorithm == wanted && suits(rule, is) &&
        (!has_limit(wanted) || rule.below_bytes == 0 || is.bytes < rule.below_bytes))
      return wanted;
  return select(collective, is);
}

bool has_two_stages(Collective collective) {
  return std::ranges::any_of(kRules, [=](const Rule& rule) {
    return rule.collective == collective && rule.algorithm == kTwoStages;
  });
}

const char* name_of(Collective collective) {
  static constexpr const char* kNames[] = {"barrier",        "broadcast",  "reduce",    "allreduce",
                                           "gather",         "gatherv",    "scatter",   "scatterv",
                                           "allgather",      "allgatherv", "alltoall",  "alltoallv",
                                           "reduce_scatter", "scan",       "neighbours"};
  static_assert(std::size(kNames) == kCollectives);
  return kNames[static_cast<std::size_t>(collective)];
}

const char* name_of(Algorithm algorithm) {
  static constexpr const char* kNames[] = {"binomial tree",
                                           "dissemination",
                                           "scatter and ring",
                                           "recursive doubling",
                                           "ring",
                                           "Bruck",
                                           "direct",
                                           "reduce and broadcast",
                                           "reduce and scatter",
                                           "gather and broadcast",
                                           "prefix doubling",
                                           "chain",
                                           "node shm",
                                           "two-stage",
                                           "shm nonblocking",
                                           "shm barrier",
                                           "shm bcast ring",
                                           "shm small",
                                           "shm leader",
                                           "shm all",
                                           "flat"};
  static_assert(std::size(kNames) == kAlgorithms + 1);  // kFlat is behind the last algorithm
  return kNames[static_cast<std::size_t>(algorithm)];
}

}  // namespace clump::coll
