// Collectives that move data (MPI-5.0 sections 6.3 to 6.8), blocking, non-blocking (MPI_Ibarrier ...) and
// persistent (MPI_Barrier_init ...): `timing` tells. Arguments were checked at the entry; where they have no
// meaning in this process, counts are zero here and types are some type.
#include <vector>

#include "mpi/bodies.h"
#include "mpi/collective_buffers.h"

namespace clump::mpi {

namespace {

using base::Status;
using coll::Blocks;
using core::Comm;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

bool in_place(const void* buffer) { return buffer == MPI_IN_PLACE; }

/// A block for each peer.
Layout all_blocks(const Comm& comm, const void* buffer, Count count, const Datatype& type) {
  return layout(buffer, count * comm.peers().size(), type);
}

/// The caller's own block; only in intracommunicators.
Layout own_block(const Comm& comm, const void* buffer, Count count, const Datatype& type) {
  return coll::part(layout(buffer, 0, type), comm.rank * count, count);
}

}  // namespace

Status barrier(Rank&, Comm& comm, const Timing& timing) {
  return run(comm, coll::Call::barrier(), timing, {});
}

Status bcast(Rank&, void* buffer, Count count, const Datatype& datatype, int root, Comm& comm,
             const Timing& timing) {
  const Layout data = layout(buffer, count, datatype);
  return run(comm, coll::Call::broadcast(data, root), timing, {&datatype});
}

Status gather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
              Count recvcount, const Datatype& recvtype, int root, Comm& comm, const Timing& timing) {
  const Layout all = all_blocks(comm, recvbuf, recvcount, recvtype);
  const Layout mine = in_place(sendbuf) ? own_block(comm, recvbuf, recvcount, recvtype)
                                        : layout(sendbuf, sendcount, sendtype);
  return run(comm, coll::Call::gather(mine, all, root), timing, {&sendtype, &recvtype});
}

Status gatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Counts recvcounts, Counts displs, const Datatype& recvtype, int root, Comm& comm,
               const Timing& timing) {
  const Blocks all = blocks(recvbuf, recvcounts, displs, recvtype);
  const Layout mine = in_place(sendbuf) ? all[comm.rank] : layout(sendbuf, sendcount, sendtype);
  return run(comm, coll::Call::gatherv(mine, all, root), timing, {&sendtype, &recvtype});
}

Status scatter(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Count recvcount, const Datatype& recvtype, int root, Comm& comm, const Timing& timing) {
  const Layout all = all_blocks(comm, sendbuf, sendcount, sendtype);
  const Layout mine = in_place(recvbuf) ? own_block(comm, sendbuf, sendcount, sendtype)
                                        : layout(recvbuf, recvcount, recvtype);
  return run(comm, coll::Call::scatter(all, mine, root), timing, {&sendtype, &recvtype});
}

Status scatterv(Rank&, const void* sendbuf, Counts sendcounts, Counts displs, const Datatype& sendtype,
                void* recvbuf, Count recvcount, const Datatype& recvtype, int root, Comm& comm,
                const Timing& timing) {
  const Blocks all = blocks(sendbuf, sendcounts, displs, sendtype);
  const Layout mine = in_place(recvbuf) ? all[comm.rank] : layout(recvbuf, recvcount, recvtype);
  return run(comm, coll::Call::scatterv(all, mine, root), timing, {&sendtype, &recvtype});
}

Status allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                 Count recvcount, const Datatype& recvtype, Comm& comm, const Timing& timing) {
  const Layout all = all_blocks(comm, recvbuf, recvcount, recvtype);
  const Layout mine = in_place(sendbuf) ? own_block(comm, recvbuf, recvcount, recvtype)
                                        : layout(sendbuf, sendcount, sendtype);
  return run(comm, coll::Call::allgather(mine, all), timing, {&sendtype, &recvtype});
}

Status allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                  Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm,
                  const Timing& timing) {
  const Blocks all = blocks(recvbuf, recvcounts, displs, recvtype);
  const Layout mine = in_place(sendbuf) ? all[comm.rank] : layout(sendbuf, sendcount, sendtype);
  return run(comm, coll::Call::allgatherv(mine, all), timing, {&sendtype, &recvtype});
}

Status alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                Count recvcount, const Datatype& recvtype, Comm& comm, const Timing& timing) {
  const Layout in = all_blocks(comm, recvbuf, recvcount, recvtype);
  const Layout out = in_place(sendbuf) ? in : all_blocks(comm, sendbuf, sendcount, sendtype);
  return run(comm, coll::Call::alltoall(comm.peers().size(), out, in), timing, {&sendtype, &recvtype});
}

Status alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                 void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm,
                 const Timing& timing) {
  const Blocks in = blocks(recvbuf, recvcounts, rdispls, recvtype);
  const Blocks out = in_place(sendbuf) ? in : blocks(sendbuf, sendcounts, sdispls, sendtype);
  return run(comm, coll::Call::alltoallv(out, in), timing, {&sendtype, &recvtype});
}

Status alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, Counts sdispls,
                 const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
                 const MPI_Datatype recvtypes[], Comm& comm, const Timing& timing) {
  const int peers = comm.peers().size();
  std::vector<const Datatype*> types = resolve(self, recvtypes, peers);
  if (!in_place(sendbuf)) {
    const std::vector<const Datatype*> out_types = resolve(self, sendtypes, peers);
    types.insert(types.end(), out_types.begin(), out_types.end());
  }
  const Blocks in = typed_blocks(recvbuf, recvcounts, rdispls, types.data());
  const Blocks out =
      in_place(sendbuf) ? in : typed_blocks(sendbuf, sendcounts, sdispls, types.data() + peers);
  return run(comm, coll::Call::alltoallv(out, in).by(coll::Caller::kAlltoallw), timing, types);
}

}  // namespace clump::mpi
