// Collectives on intercommunicators (MPI-5.0 section 6.2.2): messages between the groups only.
#include "coll/algorithms/algorithms.h"
#include "coll/algorithms/pieces.h"

namespace clump::coll::inter {

namespace {

// Receives what all remote ranks send, and combines it in their order in `out`.
void collect(Schedule& s, const Layout& out) {
  Layout value = s.peers() == 1 ? out : s.scratch(out.count, *out.type);
  s.receive(value, 0);
  s.next();
  Layout spare;
  for (int i = 1; i < s.peers(); ++i) {
    Layout room = i == s.peers() - 1 ? out : spare;
    if (room.type == nullptr) room = s.scratch(out.count, *out.type);
    s.receive(room, i);
    s.combine(value, room);
    spare = value;
    value = room;
  }
}

void inter_barrier(Schedule& s) {
  // The first ranks hear from all remote ranks, tell each other, and tell all remote ranks.
  const Layout nothing = bytes_at(nullptr, 0);
  s.send(nothing, 0);
  if (s.rank() == 0)
    for (int i = 0; i < s.peers(); ++i) s.receive(nothing, i);
  s.next();
  if (s.rank() == 0) {
    s.send(nothing, 0);
    s.receive(nothing, 0);
    s.next();
    for (int i = 0; i < s.peers(); ++i) s.send(nothing, i);
  }
  s.receive(nothing, 0);
}

void inter_broadcast(Schedule& s, const Layout& buffer, int root) {
  if (root == MPI_PROC_NULL || buffer.bytes() == 0) return;
  if (root != MPI_ROOT) return s.receive(buffer, root);
  for (int i = 0; i < s.peers(); ++i) s.send(buffer, i);
}

void inter_gather(Schedule& s, const Layout& mine, const Blocks& all, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) {
    if (mine.bytes() > 0) s.send(mine, root);
    return;
  }
  for (int i = 0; i < s.peers(); ++i)
    if (const Layout block = all[i]; block.bytes() > 0) s.receive(block, i);
}

void inter_scatter(Schedule& s, const Blocks& all, const Layout& mine, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) {
    if (mine.bytes() > 0) s.receive(mine, root);
    return;
  }
  for (int i = 0; i < s.peers(); ++i)
    if (const Layout block = all[i]; block.bytes() > 0) s.send(block, i);
}

void inter_allgather(Schedule& s, const Layout& mine, const Blocks& all) {
  for (int i = 0; i < s.peers(); ++i) {
    if (const Layout block = all[i]; block.bytes() > 0) s.receive(block, i);
    if (mine.bytes() > 0) s.send(mine, i);
  }
}

void inter_alltoall(Schedule& s, const Blocks& out, const Blocks& in) {
  for (int i = 0; i < s.peers(); ++i) {
    if (const Layout block = in[i]; block.bytes() > 0) s.receive(block, i);
    if (const Layout block = out[i]; block.bytes() > 0) s.send(block, i);
  }
}

void inter_reduce(Schedule& s, const Layout& in, const Layout& out, int root) {
  if (root == MPI_PROC_NULL) return;
  if (root != MPI_ROOT) {
    if (in.count > 0) s.send(in, root);
    return;
  }
  if (out.count > 0) collect(s, out);
}

void inter_allreduce(Schedule& s, const Layout& in, const Layout& out) {
  if (in.count == 0) return;
  s.send(in, 0);
  if (s.rank() != 0) return s.receive(out, 0);
  collect(s, out);
  s.next();
  // The caller's group wants what is in `out` now; only the remote group can reach it.
  const Layout theirs = s.scratch(in.count, *in.type);
  s.send(out, 0);
  s.receive(theirs, 0);
  s.next();
  for (int i = 1; i < s.peers(); ++i) s.send(theirs, i);
}

// Each rank gets the whole result, and keeps its block.
void inter_reduce_scatter(Schedule& s, const Call& call) {
  const Layout result = s.scratch(call.send.count, *call.send.type);
  inter_allreduce(s, call.send, result);
  s.copy(call.recv, part(result, call.first, call.recv.count));
}

}  // namespace

void write(Schedule& s, const Call& call) {
  switch (call.collective) {
    case Collective::kBarrier:
      return inter_barrier(s);
    case Collective::kBroadcast:
      return inter_broadcast(s, call.send, call.root);
    case Collective::kGather:
      return inter_gather(s, call.send, equal_blocks(s, call.recv), call.root);
    case Collective::kGatherv:
      return inter_gather(s, call.send, *call.recv_blocks, call.root);
    case Collective::kScatter:
      return inter_scatter(s, equal_blocks(s, call.send), call.recv, call.root);
    case Collective::kScatterv:
      return inter_scatter(s, *call.send_blocks, call.recv, call.root);
    case Collective::kAllgather:
      return inter_allgather(s, call.send, equal_blocks(s, call.recv));
    case Collective::kAllgatherv:
      return inter_allgather(s, call.send, *call.recv_blocks);
    case Collective::kAlltoall:
      return inter_alltoall(s, equal_blocks(s, call.send), equal_blocks(s, call.recv));
    case Collective::kAlltoallv:
      return inter_alltoall(s, *call.send_blocks, *call.recv_blocks);
    case Collective::kReduce:
      return inter_reduce(s, call.send, call.recv, call.root);
    case Collective::kAllreduce:
      return inter_allreduce(s, call.send, call.recv);
    case Collective::kReduceScatter:
      return inter_reduce_scatter(s, call);
    case Collective::kScan:
    case Collective::kNeighbours:
      return;  // are not defined on intercommunicators
  }
}

}  // namespace clump::coll::inter
