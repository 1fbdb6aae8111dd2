// Neighbourhood collectives (MPI-5.0 sections 8.6 to 8.8): blocking, non-blocking and persistent. The entry
// point has checked that there is a topology.
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

Blocks equal_blocks(const void* buffer, Count count, const Datatype& type) {
  return {const_cast<void*>(buffer), count, &type};
}

}  // namespace

Status neighbor_allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                          void* recvbuf, Count recvcount, const Datatype& recvtype, Comm& comm,
                          const Timing& timing) {
  return run(comm,
             coll::Call::neighbours(Blocks(layout(sendbuf, sendcount, sendtype)),
                                    equal_blocks(recvbuf, recvcount, recvtype))
                 .by(coll::Caller::kNeighborAllgather),
             timing, {&sendtype, &recvtype});
}

Status neighbor_allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                           void* recvbuf, Counts recvcounts, Counts displs, const Datatype& recvtype,
                           Comm& comm, const Timing& timing) {
  return run(comm,
             coll::Call::neighbours(Blocks(layout(sendbuf, sendcount, sendtype)),
                                    blocks(recvbuf, recvcounts, displs, recvtype))
                 .by(coll::Caller::kNeighborAllgatherv),
             timing, {&sendtype, &recvtype});
}

Status neighbor_alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                         Count recvcount, const Datatype& recvtype, Comm& comm, const Timing& timing) {
  return run(comm,
             coll::Call::neighbours(equal_blocks(sendbuf, sendcount, sendtype),
                                    equal_blocks(recvbuf, recvcount, recvtype))
                 .by(coll::Caller::kNeighborAlltoall),
             timing, {&sendtype, &recvtype});
}

Status neighbor_alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls,
                          const Datatype& sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                          const Datatype& recvtype, Comm& comm, const Timing& timing) {
  return run(comm,
             coll::Call::neighbours(blocks(sendbuf, sendcounts, sdispls, sendtype),
                                    blocks(recvbuf, recvcounts, rdispls, recvtype))
                 .by(coll::Caller::kNeighborAlltoallv),
             timing, {&sendtype, &recvtype});
}

Status neighbor_alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm,
                          const Timing& timing) {
  // Those of both sides, one after the other.
  std::vector<const Datatype*> types = resolve(self, sendtypes, comm.topology->destinations().blocks);
  const std::size_t sent = types.size();
  for (const Datatype* const type : resolve(self, recvtypes, comm.topology->sources().blocks))
    types.push_back(type);
  return run(comm,
             coll::Call::neighbours(typed_blocks(sendbuf, sendcounts, sdispls, types.data()),
                                    typed_blocks(recvbuf, recvcounts, rdispls, types.data() + sent))
                 .by(coll::Caller::kNeighborAlltoallw),
             timing, types);
}

}  // namespace clump::mpi
