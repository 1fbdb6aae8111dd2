// What goes to which rank, and what comes from there, for each collective operation that moves data.
// Arguments are those of the bodies (collectives.cc, reductions.cc).
#include "mpi/checked.h"

#include <utility>
#include <vector>

#include "mpi/bodies.h"
#include "mpi/collective_buffers.h"

namespace clump::mpi::checked {

namespace {

using base::Status;
using coll::Check;
using core::Comm;
using core::Op;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

Check::Call call(const Called& called) { return {.name = called.name, .address = called.site}; }

Status check(Comm& comm, const Called& called, Check::Call call) {
  if (called.later == nullptr) return Check(comm, call).run();
  if (comm.owner.world.checks == core::Checks::kNone) call.buffers.clear();
  *called.later = std::make_unique<Check>(comm, call);
  return {};
}

/// Which part a rank has where one is the root.
bool at_root(const Comm& comm, int root) { return comm.is_inter() ? root == MPI_ROOT : root == comm.rank; }
bool has_root(int root) { return root >= 0; }

auto always(const Layout& data) {
  return [data](int) { return data; };
}
auto only_for(int root, const Layout& data) {
  return [=](int peer) { return peer == root ? data : Layout(); };
}

/// Where data lie that are only read; of what is combined or sent in place the buffer is written, too.
Layout at(const void* buffer, Count count, const Datatype& type) {
  return {const_cast<void*>(buffer), in_place(buffer) ? 0 : count, &type};
}
std::vector<Layout> all_of(const coll::Blocks& blocks, int count) {
  std::vector<Layout> found;
  for (int i = 0; i < count; ++i) found.push_back(blocks[i]);
  return found;
}

/// Block i of a buffer with as many elements for each rank has no other count and type than any other block.
Layout block(Count count, const Datatype& type) { return {nullptr, count, &type}; }
/// Of block i, its count and type.
auto blocks(const Counts& counts, const Datatype& type) {
  return [&](int peer) { return block(counts[static_cast<std::size_t>(peer)], type); };
}
auto blocks(const Counts& counts, const std::vector<const Datatype*>& types) {
  return [&](int peer) {
    const auto i = static_cast<std::size_t>(peer);
    return block(counts[i], *types[i]);
  };
}

/// Ranks give the same operands everywhere, or those of one group of an intercommunicator to the root of the
/// other one.
Check::Call reduction(const Called& called, const Op& op, const void* sendbuf, Count count,
                      const Datatype& type) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.op = &op;
  made.combines = true;
  made.gives = always(block(count, type));
  made.buffers = {at(sendbuf, count, type)};
  return made;
}

}  // namespace

Status together(Comm& comm, const Called& called) { return check(comm, called, call(called)); }

Status together(Rank& self, const Called& called) {
  // Whether it is there is for the body to say.
  Comm* const world = self.comm(MPI_COMM_WORLD);
  return world == nullptr ? Status() : together(*world, called);
}

Status barrier(Rank&, Comm& comm, const Called& called) { return together(comm, called); }

Status bcast(Rank&, void* buffer, Count count, const Datatype& datatype, int root, Comm& comm,
             const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  const Layout data = block(count, datatype);
  if (at_root(comm, root)) made.buffers = {at(buffer, count, datatype)};
  if (at_root(comm, root))
    made.gives = [&](int peer) { return comm.is_inter() || peer != root ? data : Layout(); };
  else if (has_root(root))
    made.takes = only_for(root, data);
  return check(comm, called, made);
}

Status gather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void*, Count recvcount,
              const Datatype& recvtype, int root, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(sendbuf);
  const Layout mine = made.is_in_place ? block(recvcount, recvtype) : block(sendcount, sendtype);
  if (has_root(root)) made.gives = only_for(root, mine);
  if (has_root(root)) made.buffers = {at(sendbuf, sendcount, sendtype)};
  if (at_root(comm, root)) made.takes = always(block(recvcount, recvtype));
  return check(comm, called, made);
}

Status gatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void*,
               Counts recvcounts, Counts, const Datatype& recvtype, int root, Comm& comm,
               const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(sendbuf);
  const auto all = blocks(recvcounts, recvtype);
  const Layout mine = made.is_in_place ? all(comm.rank) : block(sendcount, sendtype);
  if (has_root(root)) made.gives = only_for(root, mine);
  if (has_root(root)) made.buffers = {at(sendbuf, sendcount, sendtype)};
  if (at_root(comm, root)) made.takes = all;
  return check(comm, called, made);
}

Status scatter(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Count recvcount, const Datatype& recvtype, int root, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(recvbuf);
  const Layout mine = made.is_in_place ? block(sendcount, sendtype) : block(recvcount, recvtype);
  if (at_root(comm, root)) made.gives = always(block(sendcount, sendtype));
  if (at_root(comm, root)) made.buffers = {at(sendbuf, sendcount * comm.peers().size(), sendtype)};
  if (has_root(root)) made.takes = only_for(root, mine);
  return check(comm, called, made);
}

Status scatterv(Rank&, const void* sendbuf, Counts sendcounts, Counts displs, const Datatype& sendtype,
                void* recvbuf, Count recvcount, const Datatype& recvtype, int root, Comm& comm,
                const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(recvbuf);
  const auto all = blocks(sendcounts, sendtype);
  const Layout mine = made.is_in_place ? all(comm.rank) : block(recvcount, recvtype);
  if (at_root(comm, root)) made.gives = all;
  if (at_root(comm, root))
    made.buffers = all_of(mpi::blocks(sendbuf, sendcounts, displs, sendtype), comm.peers().size());
  if (has_root(root)) made.takes = only_for(root, mine);
  return check(comm, called, made);
}

Status allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void*,
                 Count recvcount, const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = always(block(recvcount, recvtype));
  made.gives = made.is_in_place ? made.takes : always(block(sendcount, sendtype));
  made.buffers = {at(sendbuf, sendcount, sendtype)};
  return check(comm, called, made);
}

Status allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void*,
                  Counts recvcounts, Counts, const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  const auto all = blocks(recvcounts, recvtype);
  made.takes = all;
  made.gives = always(made.is_in_place ? all(comm.rank) : block(sendcount, sendtype));
  made.buffers = {at(sendbuf, sendcount, sendtype)};
  return check(comm, called, made);
}

Status alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void*, Count recvcount,
                const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = always(block(recvcount, recvtype));
  made.gives = made.is_in_place ? made.takes : always(block(sendcount, sendtype));
  made.buffers = {at(sendbuf, sendcount * comm.peers().size(), sendtype)};
  return check(comm, called, made);
}

Status alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                 void*, Counts recvcounts, Counts, const Datatype& recvtype, Comm& comm,
                 const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = blocks(recvcounts, recvtype);
  made.gives = made.is_in_place ? made.takes : blocks(sendcounts, sendtype);
  if (!made.is_in_place)
    made.buffers = all_of(mpi::blocks(sendbuf, sendcounts, sdispls, sendtype), comm.peers().size());
  return check(comm, called, made);
}

Status alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, Counts sdispls,
                 const MPI_Datatype sendtypes[], void*, Counts recvcounts, Counts,
                 const MPI_Datatype recvtypes[], Comm& comm, const Called& called) {
  const int peers = comm.peers().size();
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  const std::vector<const Datatype*> in = resolve(self, recvtypes, peers);
  const std::vector<const Datatype*> out =
      made.is_in_place ? std::vector<const Datatype*>() : resolve(self, sendtypes, peers);
  made.takes = blocks(recvcounts, in);
  made.gives = made.is_in_place ? made.takes : blocks(sendcounts, out);
  if (!made.is_in_place) made.buffers = all_of(typed_blocks(sendbuf, sendcounts, sdispls, out.data()), peers);
  return check(comm, called, made);
}

Status reduce(Rank&, const void* sendbuf, void*, Count count, const Datatype& datatype, MPI_Datatype, Op& op,
              int root, Comm& comm, const Called& called) {
  Check::Call made = reduction(called, op, sendbuf, count, datatype);
  made.root = root;
  if (comm.is_inter()) {
    made.combines = false;
    made.gives = nullptr;
    if (!has_root(root)) made.buffers.clear();
    if (has_root(root)) made.gives = only_for(root, block(count, datatype));
    if (at_root(comm, root)) made.takes = always(block(count, datatype));
  }
  return check(comm, called, made);
}

Status allreduce(Rank&, const void* sendbuf, void*, Count count, const Datatype& datatype, MPI_Datatype,
                 Op& op, Comm& comm, const Called& called) {
  Check::Call made = reduction(called, op, sendbuf, count, datatype);
  made.all_in_place = true;
  return check(comm, called, made);
}

Status reduce_scatter(Rank&, const void* sendbuf, void*, Counts recvcounts, const Datatype& datatype,
                      MPI_Datatype, Op& op, Comm& comm, const Called& called) {
  Count whole = 0;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(comm.size()); ++i) {
    whole += recvcounts[i];
    hash = (hash ^ static_cast<std::uint64_t>(recvcounts[i])) * 0x9e3779b97f4a7c15;
  }
  Check::Call made = reduction(called, op, sendbuf, whole, datatype);
  made.counts = hash;
  return check(comm, called, made);
}

Status reduce_scatter_block(Rank&, const void* sendbuf, void*, Count recvcount, const Datatype& datatype,
                            MPI_Datatype, Op& op, Comm& comm, const Called& called) {
  return check(comm, called, reduction(called, op, sendbuf, recvcount * comm.size(), datatype));
}

Status scan(Rank&, const void* sendbuf, void*, Count count, const Datatype& datatype, MPI_Datatype, Op& op,
            Comm& comm, const Called& called) {
  return check(comm, called, reduction(called, op, sendbuf, count, datatype));
}

Status exscan(Rank& self, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
              MPI_Datatype handle, Op& op, Comm& comm, const Called& called) {
  return scan(self, sendbuf, recvbuf, count, datatype, handle, op, comm, called);
}

}  // namespace clump::mpi::checked
