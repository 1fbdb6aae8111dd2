// Collectives that move data (MPI-5.0 sections 6.3 to 6.8). Arguments were checked at the entry; where they
// have no meaning in this process, counts are zero here and types are some type.
#include <vector>

#include "mpi/bodies.h"
#include "mpi/collective_buffers.h"

namespace clump::mpi {

namespace {

using base::Status;
using coll::Blocks;
using coll::Schedule;
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

Status barrier(Rank&, Comm& comm) { return coll::barrier(comm); }

Status bcast(Rank&, void* buffer, Count count, const Datatype& datatype, int root, Comm& comm) {
  return coll::broadcast(comm, layout(buffer, count, datatype), root);
}

Status gather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
              Count recvcount, const Datatype& recvtype, int root, Comm& comm) {
  const Layout mine = in_place(sendbuf) ? own_block(comm, recvbuf, recvcount, recvtype)
                                        : layout(sendbuf, sendcount, sendtype);
  return coll::gather(comm, mine, all_blocks(comm, recvbuf, recvcount, recvtype), root);
}

Status gatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Counts recvcounts, Counts displs, const Datatype& recvtype, int root, Comm& comm) {
  Schedule s(comm);
  const Blocks all = blocks(recvbuf, recvcounts, displs, recvtype);
  coll::gatherv(s, in_place(sendbuf) ? all[comm.rank] : layout(sendbuf, sendcount, sendtype), all, root);
  return s.run();
}

Status scatter(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
               Count recvcount, const Datatype& recvtype, int root, Comm& comm) {
  const Layout mine = in_place(recvbuf) ? own_block(comm, sendbuf, sendcount, sendtype)
                                        : layout(recvbuf, recvcount, recvtype);
  return coll::scatter(comm, all_blocks(comm, sendbuf, sendcount, sendtype), mine, root);
}

Status scatterv(Rank&, const void* sendbuf, Counts sendcounts, Counts displs, const Datatype& sendtype,
                void* recvbuf, Count recvcount, const Datatype& recvtype, int root, Comm& comm) {
  Schedule s(comm);
  const Blocks all = blocks(sendbuf, sendcounts, displs, sendtype);
  coll::scatterv(s, all, in_place(recvbuf) ? all[comm.rank] : layout(recvbuf, recvcount, recvtype), root);
  return s.run();
}

Status allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                 Count recvcount, const Datatype& recvtype, Comm& comm) {
  const Layout mine = in_place(sendbuf) ? own_block(comm, recvbuf, recvcount, recvtype)
                                        : layout(sendbuf, sendcount, sendtype);
  return coll::allgather(comm, mine, all_blocks(comm, recvbuf, recvcount, recvtype));
}

Status allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                  Counts recvcounts, Counts displs, const Datatype& recvtype, Comm& comm) {
  Schedule s(comm);
  const Blocks all = blocks(recvbuf, recvcounts, displs, recvtype);
  coll::allgatherv(s, in_place(sendbuf) ? all[comm.rank] : layout(sendbuf, sendcount, sendtype), all);
  return s.run();
}

Status alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                Count recvcount, const Datatype& recvtype, Comm& comm) {
  const Layout in = all_blocks(comm, recvbuf, recvcount, recvtype);
  return coll::alltoall(comm, in_place(sendbuf) ? in : all_blocks(comm, sendbuf, sendcount, sendtype), in);
}

Status alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls, const Datatype& sendtype,
                 void* recvbuf, Counts recvcounts, Counts rdispls, const Datatype& recvtype, Comm& comm) {
  Schedule s(comm);
  const Blocks in = blocks(recvbuf, recvcounts, rdispls, recvtype);
  if (in_place(sendbuf))
    coll::alltoall_in_place(s, in);
  else
    coll::alltoall(s, blocks(sendbuf, sendcounts, sdispls, sendtype), in);
  return s.run();
}

Status alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, Counts sdispls,
                 const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts, Counts rdispls,
                 const MPI_Datatype recvtypes[], Comm& comm) {
  Schedule s(comm);
  const int peers = comm.peers().size();
  const std::vector<const Datatype*> in_types = resolve(self, recvtypes, peers);
  const Blocks in(recvbuf, numbers(recvcounts), numbers(rdispls), in_types.data());
  if (in_place(sendbuf)) {
    coll::alltoall_in_place(s, in);
    return s.run();
  }
  const std::vector<const Datatype*> out_types = resolve(self, sendtypes, peers);
  coll::alltoall(s, {const_cast<void*>(sendbuf), numbers(sendcounts), numbers(sdispls), out_types.data()},
                 in);
  return s.run();
}

}  // namespace clump::mpi
