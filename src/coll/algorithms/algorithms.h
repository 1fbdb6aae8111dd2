// The algorithms behind the collectives that have several (select/select.h), for intracommunicators of at least two
// ranks and data that is not empty. coll.h says what the arguments are. Each can be used at any size, unless
// it says so.
#pragma once

#include "coll/coll.h"

namespace clump::coll {

void barrier_direct(Schedule& s);
void barrier_dissemination(Schedule& s);

void broadcast_binomial(Schedule& s, const Layout& buffer, int root);
void broadcast_scatter_allgather(Schedule& s, const Layout& buffer, int root);

// Blocks may be of any size.
void gather_direct(Schedule& s, const Layout& mine, const Blocks& all, int root);
void scatter_direct(Schedule& s, const Blocks& all, const Layout& mine, int root);
void alltoall_direct(Schedule& s, const Blocks& out, const Blocks& in);
/// The same with some of the blocks: sender and receiver of each say so.
void exchange_directly(Schedule& s, const Blocks& out, const Blocks& in,
                       const std::function<bool(int peer, Count bytes)>& is_wanted);

void gather_binomial(Schedule& s, const Layout& mine, const Layout& all, int root);
void scatter_binomial(Schedule& s, const Layout& all, const Layout& mine, int root);

void allgather_bruck(Schedule& s, const Layout& mine, const Layout& all);
void allgather_ring(Schedule& s, const Layout& mine, const Blocks& all);  ///< blocks of any size
void allgather_gather_broadcast(Schedule& s, const Layout& mine, const Layout& all);

void reduce_direct(Schedule& s, const Layout& in, const Layout& out, int root);
void reduce_binomial(Schedule& s, const Layout& in, const Layout& out, int root);
/// In one order whatever the placement, as all that select/select.cc's keeps_one_order() names.
void reduce_chain(Schedule& s, const Layout& in, const Layout& out, int root);
/// Only for operations that commute, and at least one element for each rank.
void reduce_ring(Schedule& s, const Layout& in, const Layout& out, int root);

void allreduce_recursive_doubling(Schedule& s, const Layout& in, const Layout& out);
void allreduce_reduce_broadcast(Schedule& s, const Layout& in, const Layout& out);
/// As reduce_ring().
void allreduce_ring(Schedule& s, const Layout& in, const Layout& out);

// Only where s.hosts() says where the ranks are (hierarchical/two_stages.cc); operations that do not commute only where
// the ranks of each host follow one another.
void barrier_two_stages(Schedule& s);
void broadcast_two_stages(Schedule& s, const Layout& buffer, int root);
void gather_two_stages(Schedule& s, const Layout& mine, const Layout& all, int root);
void scatter_two_stages(Schedule& s, const Layout& all, const Layout& mine, int root);
void allgather_two_stages(Schedule& s, const Layout& mine, const Layout& all);
void allgatherv_two_stages(Schedule& s, const Layout& mine, const Blocks& all);
void alltoall_two_stages(Schedule& s, const Layout& out, const Layout& in);  ///< not in place
// Of these the ranks know the sizes of their own blocks only (hierarchical/packed_blocks.cc).
void gatherv_two_stages(Schedule& s, const Layout& mine, const Blocks& all, int root);
void scatterv_two_stages(Schedule& s, const Blocks& all, const Layout& mine, int root);
void alltoallv_two_stages(Schedule& s, const Blocks& out, const Blocks& in);
void reduce_two_stages(Schedule& s, const Layout& in, const Layout& out, int root);
void allreduce_two_stages(Schedule& s, const Layout& in, const Layout& out);
/// As prefix() (algorithms/pieces.h); only where the ranks of each host follow one another.
void prefix_two_stages(Schedule& s, const Layout& value, const Layout& below = {});

}  // namespace clump::coll
