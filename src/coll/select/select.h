// Which algorithm a collective operation uses: one table, the first rule that fits. `clump info --coll`
// prints it. The rules that are shipped can have others in front of them, which `clump tune` has measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"

namespace clump::coll {

enum class Collective : std::uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllreduce,
  kGather,
  kGatherv,
  kScatter,
  kScatterv,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kAlltoallv,  ///< and alltoallw
  kReduceScatter,
  kScan,
  kNeighbours,  ///< all neighbourhood collectives
};
inline constexpr int kCollectives = static_cast<int>(Collective::kNeighbours) + 1;

/// Whether it combines operands.
constexpr bool combines(Collective collective) {
  return collective == Collective::kReduce || collective == Collective::kAllreduce ||
         collective == Collective::kReduceScatter || collective == Collective::kScan;
}
/// Whether it moves a block for each rank, all of one size.
constexpr bool has_equal_blocks(Collective collective) {
  return collective == Collective::kGather || collective == Collective::kScatter ||
         collective == Collective::kAllgather || collective == Collective::kAlltoall;
}
/// Whether it moves a block for each rank, of any sizes.
constexpr bool has_uneven_blocks(Collective collective) {
  return collective == Collective::kGatherv || collective == Collective::kScatterv ||
         collective == Collective::kAllgatherv || collective == Collective::kAlltoallv;
}

enum class Algorithm : std::uint8_t {
  kBinomial,           ///< a tree, log2(ranks) rounds
  kDissemination,      ///< barrier: after round k each rank has heard of 2^k ranks
  kScatterAllgather,   ///< broadcast: the root scatters pieces, a ring collects them
  kRecursiveDoubling,  ///< exchange with the rank 1, 2, 4, ... away; what is over a power of two folds in
                       ///< first
  kRing,               ///< pieces travel from neighbour to neighbour
  kBruck,              ///< packed blocks, doubled in each round
  kDirect,             ///< straight from owner to user, or by way of rank 0
  kReduceBroadcast,    ///< allreduce as what its name says, by way of rank 0
  kReduceThenScatter,  ///< reduce-scatter likewise
  kGatherBroadcast,    ///< allgather likewise
  kPrefixDoubling,     ///< scan: partial results go 1, 2, 4, ... ranks up
  kChain,              ///< reductions: from rank to rank, so in one order whatever the placement
  kNodeShm,  ///< among processes of one node: each writes where all can read, and all meet (node/node_team.h)
  kTwoStages,       ///< across hosts: within each host to its leader, among leaders, and back
                    ///< (hierarchical/two_stages.cc)
  kShmNonblocking,  ///< of a team, without blocking: threads that have time do the work when all ranks have
                    ///< called (shared/pending.h)
  // Of a team (shared/team.h): ranks of one address space, grouped by the worker that is home to them.
  kShmBarrier,    ///< the leaders of the groups tell each other that all are there
  kShmBcastRing,  ///< broadcast: the root leaves the data for the others, and waits for none
                  ///< (shared/bcast_ring.cc)
  kShmSmall,      ///< leaders combine, or take, the data of their group, and pass it on as they meet
  kShmLeader,     ///< leaders move or combine data for their group, where it lies
  kShmAll,        ///< each rank moves or combines its part of the data, where it lies
};
inline constexpr int kAlgorithms = static_cast<int>(Algorithm::kShmAll) + 1;

/// Which reductions a rule fits.
enum class Operations : std::uint8_t { kAny, kCommutative, kPredefined };

/// Where the ranks of a blocking operation are. Operations that do not block use the rules for kAnywhere:
/// what is best among all algorithms says nothing about what is best without those of teams.
enum class Where : std::uint8_t {
  kAnywhere,
  kProcess,  ///< all in one process
  kNode,     ///< in several processes of one node
};

/// What has to be so for a rule to fit; a condition that is not named always holds.
struct Conditions {
  Where where = Where::kAnywhere;  ///< the ranks are there
  int from_ranks = 0;
  int up_to_ranks = 0;  ///< 0: any number
  Count from_bytes = 0;
  Count below_bytes = 0;  ///< a rank's part (see coll.h) is smaller; 0: any size
  Operations operations = Operations::kAny;

  bool operator==(const Conditions&) const = default;
};

struct Rule : Conditions {
  Collective collective{};
  Algorithm algorithm{};

  constexpr Rule() = default;
  constexpr Rule(Collective its_collective, Algorithm its_algorithm, const Conditions& when = {})
      : Conditions(when), collective(its_collective), algorithm(its_algorithm) {}
  bool operator==(const Rule&) const = default;
};

/// Those that are shipped, in the order in which they are tried: every algorithm that there is for a
/// collective is in them, and the last one of each collective fits always.
std::span<const Rule> shipped_rules();
/// For each collective these rules, in their order, and behind them the shipped ones.
std::vector<Rule> in_front_of_shipped(std::span<const Rule> rules);
/// From now on these are in front of the shipped ones, instead of what was there. Before any rank runs, and
/// the same on all.
void use_rules(std::span<const Rule> rules);

/// What each rule for an algorithm has to ask for.
struct Limits {
  Count below_bytes;      ///< there is no more room; 0: any size
  Operations operations;  ///< the widest that it can do
};
/// None: there is no such algorithm for the collective.
std::optional<Limits> limits_of(Collective collective, Algorithm algorithm);

/// What a selection depends on: the same on all ranks.
struct Situation {
  int ranks;
  Count bytes;
  Operations operation = Operations::kPredefined;  ///< the narrowest that holds
  bool team = false;                               ///< the ranks are a team
  bool nonblocking = false;                        ///< they are, and the operation does not block
  bool node = false;                               ///< they have a place to meet on their node
  bool hosts = false;                              ///< they are on several hosts, in an order that suits
  bool one_order = false;  ///< operands must be combined in an order that no placement changes
  Where where = Where::kAnywhere;
  bool carried = true;  ///< leaders of a team have room for it, or a slot of the ring has
};
Algorithm select(Collective collective, const Situation& situation);
/// The same by the shipped rules for anywhere alone, whatever use_rules() has put in front of them.
Algorithm select_shipped(Collective collective, const Situation& situation);
/// The same, but `wanted` if there is such an algorithm for the collective and the ranks and the operation
/// suit it. The size is only asked where there is room for so much and no more.
Algorithm select(Collective collective, const Situation& situation, Algorithm wanted);

/// What a tool wants that wants no two stages anywhere: no algorithm of the table, which then chooses as on
/// one host.
inline constexpr Algorithm kFlat{kAlgorithms};
/// Whether there are two stages for it at all.
bool has_two_stages(Collective collective);

constexpr bool is_for_teams(Algorithm algorithm) { return algorithm >= Algorithm::kShmBarrier; }
/// Whether ranks that are there can use it.
constexpr bool is_for(Where where, Algorithm algorithm) {
  if (where == Where::kAnywhere) return true;
  if (algorithm == Algorithm::kNodeShm) return where == Where::kNode;
  return algorithm != Algorithm::kTwoStages && algorithm != Algorithm::kShmNonblocking &&
         (where == Where::kProcess || !is_for_teams(algorithm));
}

/// What leaders do in the second of two stages depends on a rank's part as well, with limits of its own
/// because they share no cores: from measurements, as the rules.
namespace among_leaders {
inline constexpr Count kLittleData = 64 << 10;  ///< below, what counts is the rounds: doubling
inline constexpr Count kAllLead = 256 << 10;    ///< from here on every rank leads an allreduce, for a piece
inline constexpr Count kScatterFirst = 512 << 10;  ///< from here on a broadcast goes in pieces
/// Up to so many send much data to each other at once, more in a ring: an estimate, four were measured.
inline constexpr int kFewHosts = 8;
}  // namespace among_leaders

const char* name_of(Collective collective);
const char* name_of(Algorithm algorithm);

}  // namespace clump::coll
