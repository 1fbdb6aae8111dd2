// For unit tests of this folder: the collectives by their names, blocking on a communicator, or written into
// a schedule.
#pragma once

#include "coll/algorithms/algorithms.h"
#include "coll/coll.h"

namespace clump::coll {

inline base::Status barrier(core::Comm& comm) { return run(comm, Call::barrier()); }
inline base::Status broadcast(core::Comm& comm, const Layout& buffer, int root) {
  return run(comm, Call::broadcast(buffer, root));
}
inline base::Status gather(core::Comm& comm, const Layout& mine, const Layout& all, int root) {
  return run(comm, Call::gather(mine, all, root));
}
inline base::Status scatter(core::Comm& comm, const Layout& all, const Layout& mine, int root) {
  return run(comm, Call::scatter(all, mine, root));
}
inline base::Status allgather(core::Comm& comm, const Layout& mine, const Layout& all) {
  return run(comm, Call::allgather(mine, all));
}
inline base::Status alltoall(core::Comm& comm, const Layout& out, const Layout& in) {
  return run(comm, Call::alltoall(comm.peers().size(), out, in));
}
inline base::Status gatherv(core::Comm& comm, const Layout& mine, const Blocks& all, int root) {
  return run(comm, Call::gatherv(mine, all, root));
}
inline base::Status scatterv(core::Comm& comm, const Blocks& all, const Layout& mine, int root) {
  return run(comm, Call::scatterv(all, mine, root));
}
inline base::Status allgatherv(core::Comm& comm, const Layout& mine, const Blocks& all) {
  return run(comm, Call::allgatherv(mine, all));
}
inline base::Status alltoall(core::Comm& comm, const Blocks& out, const Blocks& in) {
  return run(comm, Call::alltoallv(out, in));
}
inline base::Status exchange_with_neighbours(core::Comm& comm, const Blocks& out, const Blocks& in) {
  return run(comm, Call::neighbours(out, in));
}
inline base::Status reduce(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out,
                           int root) {
  return run(comm, Call::reduce(reduction, in, out, root));
}
inline base::Status allreduce(core::Comm& comm, const Reduction& reduction, const Layout& in,
                              const Layout& out) {
  return run(comm, Call::allreduce(reduction, in, out));
}
inline base::Status scan(core::Comm& comm, const Reduction& reduction, const Layout& in, const Layout& out) {
  return run(comm, Call::scan(reduction, in, out));
}
inline base::Status exscan(core::Comm& comm, const Reduction& reduction, const Layout& in,
                           const Layout& out) {
  return run(comm, Call::exscan(reduction, in, out));
}
inline base::Status reduce_scatter(core::Comm& comm, const Reduction& reduction, const Layout& in,
                                   const Layout& out, const Numbers& counts) {
  return run(comm,
             Call::reduce_scatter(comm, reduction, {in.base, total_of(comm, counts), in.type}, out, counts));
}
inline base::Status reduce_scatter_block(core::Comm& comm, const Reduction& reduction, const Layout& in,
                                         const Layout& out) {
  return run(comm,
             Call::reduce_scatter_block(comm, reduction, {in.base, comm.size() * out.count, in.type}, out));
}

inline void gatherv(Schedule& s, const Layout& mine, const Blocks& all, int root) {
  write(s, Call::gatherv(mine, all, root));
}
inline void scatterv(Schedule& s, const Blocks& all, const Layout& mine, int root) {
  write(s, Call::scatterv(all, mine, root));
}
inline void allgatherv(Schedule& s, const Layout& mine, const Blocks& all) {
  write(s, Call::allgatherv(mine, all));
}
inline void alltoall(Schedule& s, const Blocks& out, const Blocks& in) { write(s, Call::alltoallv(out, in)); }
inline void scan(Schedule& s, const Layout& in, const Layout& out) {
  write(s, {.collective = Collective::kScan, .bytes = in.bytes(), .send = in, .recv = out});
}
inline void exscan(Schedule& s, const Layout& in, const Layout& out) {
  write(s,
        {.collective = Collective::kScan, .exclusive = true, .bytes = in.bytes(), .send = in, .recv = out});
}

}  // namespace clump::coll
