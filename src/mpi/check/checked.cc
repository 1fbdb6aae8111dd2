// What goes to which rank, and what comes from there, for each collective operation that moves data.
// Arguments are those of the bodies (collectives.cc, reductions.cc).
#include "mpi/check/checked.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/rank.h"
#include "datatype/overlap.h"
#include "mpi/bodies.h"
#include "mpi/check/checked_calls.h"

namespace clump::mpi::checked {

namespace {

using base::Status;
using coll::Check;
using core::Comm;
using core::Op;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

/// Which part a rank has where one is the root.
bool at_root(const Comm& comm, int root) { return comm.is_inter() ? root == MPI_ROOT : root == comm.rank; }
bool has_root(int root) { return root >= 0; }

auto always(const Layout& data) {
  return [data](int) { return data; };
}
auto only_for(int root, const Layout& data) {
  return [=](int peer) { return peer == root ? data : Layout(); };
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
/// other one. `result` is where this rank gets something.
Check::Call reduction(const Called& called, const Op& op, const void* sendbuf, Count count,
                      const Datatype& type, const Layout& result) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.op = &op;
  made.combines = true;
  made.gives = always(block(count, type));
  made.sends = {at(sendbuf, count, type)};
  made.receives = {result};
  return made;
}

/// What one rank alone sees. Memory that is written must be written once, and must not be what is read
/// (MPI-5.0 sections 6.2, 6.5 and 6.7); what a scatter sends shall be read once, too (section 6.6), which
/// harms nobody.
Status look_at_buffers(const Rank& self, const Check::Call& call) {
  const core::Site here{call.name, call.address};
  for (const Layout& sent : call.sends)
    CLUMP_TRY(core::look_at_buffer(self, {sent, here, "send buffer", false, {}}));
  for (const Layout& received : call.receives)
    CLUMP_TRY(core::look_at_buffer(self, {received, here, "receive buffer", true, {}}));
  const auto overlaps = [](const Layout& one) {
    return [&](const Layout& other) { return datatype::overlap(one, other); };
  };
  if (datatype::overlap_themselves(call.receives))
    return base::fail(
        MPI_ERR_BUFFER,
        "what is received from different ranks, or the elements of the receive type, overlap{}: no byte "
        "of the receive buffer may be written twice; compare counts, displacements and types",
        self.world.at({call.name, call.address}));
  for (const Layout& sent : call.sends)
    if (std::ranges::any_of(call.receives, overlaps(sent)))
      return base::fail(
          MPI_ERR_BUFFER,
          "the receive buffer overlaps the send buffer{}: give one of them other memory, or pass "
          "MPI_IN_PLACE",
          self.world.at({call.name, call.address}));
  if (call.scatters && datatype::overlap_themselves(call.sends))
    self.remark(core::Remark::Kind::kUncommon,
                "sends a byte to several ranks: by the standard no place of the root is read more than once "
                "(MPI-5.0 section 6.6)");
  return {};
}

}  // namespace

Status check(Comm& comm, const Called& called, Check::Call call) {
  const bool watches = comm.owner.world.checks != core::Checks::kNone;
  if (called.later == nullptr) {
    // Nothing is told before all have come.
    const bool joins = watches && comm.has_whole_world();
    if (joins) comm.owner.telling.told.fetch_sub(1, std::memory_order_relaxed);
    // First what all ranks find: where counts differ, blocks may overlap because of that.
    CLUMP_TRY(Check(comm, call).run());
    if (joins) comm.owner.telling.joined.fetch_add(1, std::memory_order_relaxed);
    return watches ? look_at_buffers(comm.owner, call) : Status();
  }
  if (watches) CLUMP_TRY(look_at_buffers(comm.owner, call));
  if (!watches) call.sends.clear(), call.receives.clear(), call.arrays.clear();
  *called.later = std::make_unique<Check>(comm, call);
  return {};
}

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
  if (at_root(comm, root))
    made.sends = {at(buffer, count, datatype)};
  else if (has_root(root))
    made.receives = {at(buffer, count, datatype)};
  if (at_root(comm, root))
    made.gives = [&](int peer) { return comm.is_inter() || peer != root ? data : Layout(); };
  else if (has_root(root))
    made.takes = only_for(root, data);
  return check(comm, called, made);
}

Status gather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
              Count recvcount, const Datatype& recvtype, int root, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(sendbuf);
  const Layout mine = made.is_in_place ? block(recvcount, recvtype) : block(sendcount, sendtype);
  if (has_root(root)) made.gives = only_for(root, mine);
  if (has_root(root)) made.sends = {at(sendbuf, sendcount, sendtype)};
  if (at_root(comm, root)) made.takes = always(block(recvcount, recvtype));
  if (at_root(comm, root)) made.receives = {at(recvbuf, recvcount * comm.peers().size(), recvtype)};
  return check(comm, called, made);
}

Status gatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Counts recvcounts, Counts displs, const Datatype& recvtype, int root, Comm& comm,
               const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(sendbuf);
  const auto all = blocks(recvcounts, recvtype);
  const Layout mine = made.is_in_place ? all(comm.rank) : block(sendcount, sendtype);
  if (has_root(root)) made.gives = only_for(root, mine);
  if (has_root(root)) made.sends = {at(sendbuf, sendcount, sendtype)};
  if (at_root(comm, root)) {
    made.takes = all;
    made.receives = all_of(mpi::blocks(recvbuf, recvcounts, displs, recvtype), comm.peers().size());
    made.arrays = {array("recvcounts", recvcounts, comm.peers().size()),
                   array("displs", displs, comm.peers().size())};
  }
  return check(comm, called, made);
}

Status scatter(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Count recvcount, const Datatype& recvtype, int root, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.root = root;
  made.is_in_place = in_place(recvbuf);
  const Layout mine = made.is_in_place ? block(sendcount, sendtype) : block(recvcount, recvtype);
  if (at_root(comm, root)) made.gives = always(block(sendcount, sendtype));
  if (at_root(comm, root)) made.sends = {at(sendbuf, sendcount * comm.peers().size(), sendtype)};
  if (has_root(root)) made.takes = only_for(root, mine);
  if (has_root(root)) made.receives = {at(recvbuf, recvcount, recvtype)};
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
  if (at_root(comm, root)) {
    made.gives = all;
    made.sends = all_of(mpi::blocks(sendbuf, sendcounts, displs, sendtype), comm.peers().size());
    made.scatters = true;
    made.arrays = {array("sendcounts", sendcounts, comm.peers().size()),
                   array("displs", displs, comm.peers().size())};
  }
  if (has_root(root)) made.takes = only_for(root, mine);
  if (has_root(root)) made.receives = {at(recvbuf, recvcount, recvtype)};
  return check(comm, called, made);
}

Status allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                 Count recvcount, const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = always(block(recvcount, recvtype));
  made.gives = made.is_in_place ? made.takes : always(block(sendcount, sendtype));
  made.sends = {at(sendbuf, sendcount, sendtype)};
  made.receives = {at(recvbuf, recvcount * comm.peers().size(), recvtype)};
  return check(comm, called, made);
}

Status allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                  Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm,
                  const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  const auto all = blocks(recvcounts, recvtype);
  made.takes = all;
  made.gives = always(made.is_in_place ? all(comm.rank) : block(sendcount, sendtype));
  made.sends = {at(sendbuf, sendcount, sendtype)};
  made.receives = all_of(mpi::blocks(recvbuf, recvcounts, displs, recvtype), comm.peers().size());
  made.arrays = {array("recvcounts", recvcounts, comm.peers().size()),
                 array("displs", displs, comm.peers().size())};
  return check(comm, called, made);
}

Status alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                Count recvcount, const Datatype& recvtype, Comm& comm, const Called& called) {
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = always(block(recvcount, recvtype));
  made.gives = made.is_in_place ? made.takes : always(block(sendcount, sendtype));
  made.sends = {at(sendbuf, sendcount * comm.peers().size(), sendtype)};
  made.receives = {at(recvbuf, recvcount * comm.peers().size(), recvtype)};
  return check(comm, called, made);
}

Status alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                 void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm,
                 const Called& called) {
  const int peers = comm.peers().size();
  Check::Call made = call(called);
  made.is_in_place = in_place(sendbuf);
  made.all_in_place = true;
  made.takes = blocks(recvcounts, recvtype);
  made.gives = made.is_in_place ? made.takes : blocks(sendcounts, sendtype);
  made.receives = all_of(mpi::blocks(recvbuf, recvcounts, rdispls, recvtype), peers);
  made.arrays = {array("recvcounts", recvcounts, peers), array("rdispls", rdispls, peers)};
  if (!made.is_in_place) {
    made.sends = all_of(mpi::blocks(sendbuf, sendcounts, sdispls, sendtype), peers);
    made.arrays.push_back(array("sendcounts", sendcounts, peers));
    made.arrays.push_back(array("sdispls", sdispls, peers));
  }
  return check(comm, called, made);
}

Status alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, Counts sdispls,
                 const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
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
  made.receives = all_of(typed_blocks(recvbuf, recvcounts, rdispls, in.data()), peers);
  made.arrays = {array("recvcounts", recvcounts, peers), array("rdispls", rdispls, peers),
                 array("recvtypes", recvtypes, peers)};
  if (!made.is_in_place) {
    made.sends = all_of(typed_blocks(sendbuf, sendcounts, sdispls, out.data()), peers);
    made.arrays.push_back(array("sendcounts", sendcounts, peers));
    made.arrays.push_back(array("sdispls", sdispls, peers));
    made.arrays.push_back(array("sendtypes", sendtypes, peers));
  }
  return check(comm, called, made);
}

Status reduce(Rank&, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype, MPI_Datatype,
              Op& op, int root, Comm& comm, const Called& called) {
  const Layout result = at_root(comm, root) ? at(recvbuf, count, datatype) : Layout();
  Check::Call made = reduction(called, op, sendbuf, count, datatype, result);
  made.root = root;
  if (comm.is_inter()) {
    made.combines = false;
    made.gives = nullptr;
    if (!has_root(root)) made.sends.clear();
    if (root == MPI_PROC_NULL) made.op = nullptr;
    if (has_root(root)) made.gives = only_for(root, block(count, datatype));
    if (at_root(comm, root)) made.takes = always(block(count, datatype));
  }
  return check(comm, called, made);
}

Status allreduce(Rank&, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
                 MPI_Datatype, Op& op, Comm& comm, const Called& called) {
  Check::Call made = reduction(called, op, sendbuf, count, datatype, at(recvbuf, count, datatype));
  made.all_in_place = true;
  return check(comm, called, made);
}

Status reduce_scatter(Rank&, const void* sendbuf, void* recvbuf, Counts recvcounts, const Datatype& datatype,
                      MPI_Datatype, Op& op, Comm& comm, const Called& called) {
  Count whole = 0;
  std::uint64_t hash = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(comm.size()); ++i) {
    whole += recvcounts[i];
    hash = (hash ^ static_cast<std::uint64_t>(recvcounts[i])) * 0x9e3779b97f4a7c15;
  }
  // In place, what all ranks get comes from there.
  const Count taken = in_place(sendbuf) ? whole : recvcounts[static_cast<std::size_t>(comm.rank)];
  Check::Call made = reduction(called, op, sendbuf, whole, datatype, at(recvbuf, taken, datatype));
  made.counts = hash;
  made.arrays = {array("recvcounts", recvcounts, comm.size())};
  return check(comm, called, made);
}

Status reduce_scatter_block(Rank&, const void* sendbuf, void* recvbuf, Count recvcount,
                            const Datatype& datatype, MPI_Datatype, Op& op, Comm& comm,
                            const Called& called) {
  const Count whole = recvcount * comm.size(), taken = in_place(sendbuf) ? whole : recvcount;
  return check(comm, called, reduction(called, op, sendbuf, whole, datatype, at(recvbuf, taken, datatype)));
}

Status scan(Rank&, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype, MPI_Datatype,
            Op& op, Comm& comm, const Called& called) {
  return check(comm, called, reduction(called, op, sendbuf, count, datatype, at(recvbuf, count, datatype)));
}

Status exscan(Rank&, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype, MPI_Datatype,
              Op& op, Comm& comm, const Called& called) {
  // Rank 0 gets nothing.
  const Layout result = comm.rank == 0 ? Layout() : at(recvbuf, count, datatype);
  return check(comm, called, reduction(called, op, sendbuf, count, datatype, result));
}

}  // namespace clump::mpi::checked
