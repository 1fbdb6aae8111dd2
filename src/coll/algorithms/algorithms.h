// The algorithms of messages (rows of registry.cc), for intracommunicators of at least two ranks and data
// that is not empty. call.h says what the arguments are. Each can be used at any size, unless it says so.
#pragma once

#include <functional>

#include "coll/algorithms/registry.h"

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
/// Only for operations that commute; with less than one element for each rank as reduce_binomial().
void reduce_ring(Schedule& s, const Layout& in, const Layout& out, int root);

void allreduce_recursive_doubling(Schedule& s, const Layout& in, const Layout& out);
void allreduce_reduce_broadcast(Schedule& s, const Layout& in, const Layout& out);
/// Only for operations that commute; with less than one element for each rank by recursive doubling.
void allreduce_ring(Schedule& s, const Layout& in, const Layout& out);

// Only where s.hosts() says where the ranks are (hierarchical/two_stages.cc); operations that do not commute
// only where the ranks of each host follow one another.
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

void reduce_scatter_direct(Schedule& s, const Call& call);  ///< only for operations that commute
void reduce_then_scatter(Schedule& s, const Call& call);

/// Writes a scan or exscan by `prefix`, which is one of the functions below.
void scan_by(Schedule& s, const Call& call,
             void (*prefix)(Schedule& s, const Layout& value, const Layout& below));
/// `value` becomes the result of all ranks up to the caller; `below`, if it has a type, that of the ranks
/// below the caller, and stays as it is on rank 0.
void prefix(Schedule& s, const Layout& value, const Layout& below);
void prefix_chain(Schedule& s, const Layout& value, const Layout& below);
/// Only where the ranks of each host follow one another.
void prefix_two_stages(Schedule& s, const Layout& value, const Layout& below);

/// Block i goes to rank i and is replaced by what that one sends (MPI_IN_PLACE).
void alltoall_in_place(Schedule& s, const Blocks& blocks);
/// The blocks may be of any size, and are those of the topology's destinations and sources.
void exchange_with_neighbours(Schedule& s, const core::Topology& topology, const Blocks& out,
                              const Blocks& in);

// Parts of other algorithms: by the algorithm that suits the ranks and the size of the part.
inline void barrier(Schedule& s) { write(s, Call::barrier()); }
inline void broadcast(Schedule& s, const Layout& buffer, int root) {
  write(s, Call::broadcast(buffer, root));
}
inline void gather(Schedule& s, const Layout& mine, const Layout& all, int root) {
  write(s, Call::gather(mine, all, root));
}
inline void scatter(Schedule& s, const Layout& all, const Layout& mine, int root) {
  write(s, Call::scatter(all, mine, root));
}
inline void allgather(Schedule& s, const Layout& mine, const Layout& all) {
  write(s, Call::allgather(mine, all));
}
inline void alltoall(Schedule& s, const Layout& out, const Layout& in) {
  write(s, Call::alltoall(s.peers(), out, in));
}
inline void reduce(Schedule& s, const Layout& in, const Layout& out, int root) {
  write(s, {.collective = Collective::kReduce, .root = root, .bytes = in.bytes(), .send = in, .recv = out});
}
inline void allreduce(Schedule& s, const Layout& in, const Layout& out) {
  write(s, {.collective = Collective::kAllreduce, .bytes = in.bytes(), .send = in, .recv = out});
}

namespace inter {

/// On intercommunicators (MPI-5.0 section 6.2.2) messages go between the groups only. Data that all ranks of
/// a group need in a combined form is collected by the first rank of a group, and comes back through the
/// first rank of the other one.
void write(Schedule& s, const Call& call);

}  // namespace inter

}  // namespace clump::coll
