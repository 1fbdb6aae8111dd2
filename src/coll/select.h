// Which algorithm a collective operation uses: one table, the first rule that fits. `clump info --coll`
// prints it.
#pragma once

#include <cstdint>
#include <span>

#include "base/types.h"

namespace clump::coll {

enum class Collective : std::uint8_t {
  kBarrier,
  kBroadcast,
  kReduce,
  kAllreduce,
  kGather,
  kScatter,
  kAllgather,
  kAllgatherv,
  kAlltoall,
  kReduceScatter,
  kScan,
};

enum class Algorithm : std::uint8_t {
  kBinomial,           ///< a tree, log2(ranks) rounds
  kDissemination,      ///< barrier: after round k everyone has heard of 2^k ranks
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
};

struct Rule {
  Collective collective;
  Algorithm algorithm;
  Count below_bytes;          ///< fits if a rank's part (see coll.h) is smaller than this; 0: any size
  int up_to_ranks = 0;        ///< fits up to so many ranks; 0: any number
  bool any_operation = true;  ///< fits operations that do not commute, too
};

/// All rules, in the order in which they are tried; the last one of each collective fits always.
std::span<const Rule> rules();

/// `bytes` must be the same on all ranks. `commutative` of the operation, if there is one.
Algorithm select(Collective collective, int ranks, Count bytes, bool commutative = true);

const char* name_of(Collective collective);
const char* name_of(Algorithm algorithm);

}  // namespace clump::coll
