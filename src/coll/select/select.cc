#include "coll/select/select.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace clump::coll {

namespace {

using enum Collective;
using enum Algorithm;
using enum Operations;

// Pending collectives first, then teams. The others are from measurements with ranks as threads of one
// process, fewer cores than ranks: what counts is the number of messages and of bytes moved, not the number
// of rounds. Two stages: from measurements with 4 hosts of 4 ranks; that of allgatherv is an estimate. Where
// they have the leaders hold the data of their whole host they end where the copies that this takes begin to
// count. PendingCollectives: where messages take longer. Of few ranks with little data the root of an
// operation needs nobody to be there (measured with 2 to 64 ranks on 2 cores).
constexpr int kManyRanks = 8;
constexpr Count kMuchData = 8 << 10;
constexpr Count kNodeRoom = 4097;  // a slot of a node team has room for less
constexpr Rule kRules[] = {
    {kBarrier, kShmNonblocking, 0},
    {kBarrier, kNodeShm, 0},
    {kBarrier, kShmBarrier, 0},
    {kBarrier, kTwoStages, 0},
    {kBarrier, kDissemination, 0, 3},
    {kBarrier, kDirect, 0, 32},
    {kBarrier, kDissemination, 0},

    {kBroadcast, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, kManyRanks},
    {kBroadcast, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 0, kMuchData},
    {kBroadcast, kNodeShm, kNodeRoom},
    {kBroadcast, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 65},
    {kBroadcast, kShmBcastRing, 481},
    {kBroadcast, kShmLeader, 4 << 10},
    {kBroadcast, kShmAll, 0},
    {kBroadcast, kTwoStages, 0},
    {kBroadcast, kBinomial, 0, 32},
    {kBroadcast, kBinomial, 512 << 10},
    {kBroadcast, kScatterAllgather, 0},

    {kReduce, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, kManyRanks},
    {kReduce, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 0, kMuchData},
    {kReduce, kNodeShm, kNodeRoom},
    {kReduce, kShmPair, kPairBuffer + 1, 2, kPredefined, Where::kAnywhere, 0, 33},
    {kReduce, kShmSmall, 481},
    {kReduce, kShmLeader, 4 << 10, 0, kPredefined},
    {kReduce, kShmAll, 0, 0, kPredefined},
    {kReduce, kTwoStages, 0},
    {kReduce, kDirect, 512, 32},
    {kReduce, kBinomial, 2 << 20},
    {kReduce, kBinomial, 0, 3},
    {kReduce, kRing, 0, 0, kCommutative},
    {kReduce, kBinomial, 0},
    {kReduce, kChain, 0},

    {kAllreduce, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 3},
    {kAllreduce, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 0, kMuchData},
    {kAllreduce, kNodeShm, kNodeRoom},
    {kAllreduce, kShmPair, kPairBuffer + 1, 2, kPredefined, Where::kAnywhere, 0, 33},
    {kAllreduce, kShmSmall, 481},
    {kAllreduce, kShmLeader, 4 << 10, 0, kPredefined},
    {kAllreduce, kShmAll, 0, 0, kPredefined},
    {kAllreduce, kTwoStages, 0},
    {kAllreduce, kRecursiveDoubling, 64 << 10, 3},
    {kAllreduce, kRing, 0, 3, kCommutative},
    {kAllreduce, kReduceBroadcast, 2 << 20},
    {kAllreduce, kRing, 0, 0, kCommutative},
    {kAllreduce, kReduceBroadcast, 0},

    {kGather, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, kManyRanks},
    {kGather, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 0, kMuchData},
    {kGather, kNodeShm, kNodeRoom},
    {kGather, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kGather, kShmLeader, 4 << 10},
    {kGather, kShmAll, 0},
    {kGather, kTwoStages, 16 << 10},
    {kGather, kDirect, 0, 32},
    {kGather, kBinomial, 2 << 10},
    {kGather, kDirect, 0},

    // Of blocks that may differ in size only two ranks that could exchange buffers know how much there is;
    // for others it is nothing.
    {kGatherv, kShmNonblocking, 0},
    {kGatherv, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kGatherv, kShmAll, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kGatherv, kShmLeader, 0},
    {kGatherv, kTwoStages, 0},
    {kGatherv, kDirect, 0},

    {kScatter, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, kManyRanks},
    {kScatter, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 0, kMuchData},
    {kScatter, kNodeShm, kNodeRoom},
    {kScatter, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kScatter, kShmLeader, 4 << 10},
    {kScatter, kShmAll, 0},
    {kScatter, kTwoStages, 16 << 10},
    {kScatter, kDirect, 0, 32},
    {kScatter, kBinomial, 2 << 10},
    {kScatter, kDirect, 0},

    {kScatterv, kShmNonblocking, 0},
    {kScatterv, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kScatterv, kShmAll, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kScatterv, kShmLeader, 0},
    {kScatterv, kTwoStages, 0},
    {kScatterv, kDirect, 0},

    {kAllgather, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 3},
    {kAllgather, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 0, kMuchData},
    {kAllgather, kNodeShm, kNodeRoom},
    {kAllgather, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 17},
    {kAllgather, kShmSmall, 481},
    {kAllgather, kShmLeader, 4 << 10},
    {kAllgather, kShmAll, 0},
    {kAllgather, kTwoStages, 0},
    {kAllgather, kBruck, 4 << 10, 3},
    {kAllgather, kGatherBroadcast, 8 << 10, 32},
    {kAllgather, kBruck, 1 << 10},
    {kAllgather, kRing, 0},

    {kAllgatherv, kShmNonblocking, 0},
    {kAllgatherv, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kAllgatherv, kShmAll, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kAllgatherv, kShmLeader, 0},
    {kAllgatherv, kTwoStages, 4 << 10},
    {kAllgatherv, kRing, 0},

    {kAlltoall, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 3},
    {kAlltoall, kShmNonblocking, 0, 0, kAny, Where::kAnywhere, 0, kMuchData},
    {kAlltoall, kNodeShm, kNodeRoom},
    {kAlltoall, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 9},
    {kAlltoall, kShmSmall, 481},
    {kAlltoall, kShmLeader, 4 << 10},
    {kAlltoall, kShmAll, 0},
    {kAlltoall, kTwoStages, 4 << 10},
    {kAlltoall, kDirect, 0},

    {kAlltoallv, kShmNonblocking, 0},
    {kAlltoallv, kShmPair, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kAlltoallv, kShmAll, kPairBuffer + 1, 2, kAny, Where::kAnywhere, 0, 1},
    {kAlltoallv, kShmLeader, 0},
    {kAlltoallv, kTwoStages, 0, 4096},
    {kAlltoallv, kDirect, 0},

    {kReduceScatter, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 3},
    {kReduceScatter, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 0, kMuchData},
    {kReduceScatter, kShmPair, kPairBuffer + 1, 2, kPredefined, Where::kAnywhere, 0, 1},
    {kReduceScatter, kShmLeader, 4 << 10, 0, kPredefined},
    {kReduceScatter, kShmAll, 0, 0, kPredefined},
    {kReduceScatter, kReduceThenScatter, 64 << 10},
    {kReduceScatter, kDirect, 0, 0, kCommutative},
    {kReduceScatter, kReduceThenScatter, 0},

    {kScan, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 3},
    {kScan, kShmNonblocking, 0, 0, kPredefined, Where::kAnywhere, 0, kMuchData},
    {kScan, kShmPair, kPairBuffer + 1, 2, kPredefined, Where::kAnywhere, 0, 1},
    {kScan, kShmLeader, 4 << 10, 0, kPredefined},
    {kScan, kShmAll, 0, 0, kPredefined},
    {kScan, kTwoStages, 0},
    {kScan, kPrefixDoubling, 0},
    {kScan, kChain, 0},

    // Not all blocks are of one size, so that no rank knows how large those of the others are.
    {kNeighbours, kShmNonblocking, 0},
    {kNeighbours, kShmLeader, 0},
    {kNeighbours, kDirect, 0},
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
    case kShmPair:
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
  return algorithm == kShmBcastRing || algorithm == kShmSmall || algorithm == kShmPair ||
         algorithm == kNodeShm;
}

/// But for places, sizes and numbers of ranks.
bool suits(const Rule& rule, const Situation& is) {
  return (is.team || !is_for_teams(rule.algorithm)) && (is.node || rule.algorithm != kNodeShm) &&
         (is.nonblocking || rule.algorithm != kShmNonblocking) &&
         (is.carried || (rule.algorithm != kShmSmall && rule.algorithm != kShmBcastRing)) &&
         (is.fits_pair || rule.algorithm != kShmPair) && (is.hosts || rule.algorithm != kTwoStages) &&
         rule.operations <= is.operation &&
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
         is.ranks < rule->from_ranks || (rule->algorithm == kShmPair && !is.touched))
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
                                           "shm pair",
                                           "flat"};
  return kNames[static_cast<std::size_t>(algorithm)];
}

}  // namespace clump::coll
