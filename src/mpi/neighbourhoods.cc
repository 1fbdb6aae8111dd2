// Neighbourhood collectives (MPI-5.0 sections 8.6 to 8.8). The entry point has checked that there is a
// topology.
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

Blocks typed_blocks(const void* buffer, Counts counts, const MPI_Aint displacements[],
                    const std::vector<const Datatype*>& types) {
  return {const_cast<void*>(buffer), numbers(counts), displacements, types.data()};
}

}  // namespace

Status neighbor_allgather(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                          void* recvbuf, Count recvcount, const Datatype& recvtype, Comm& comm) {
  return coll::exchange_with_neighbours(comm, Blocks(layout(sendbuf, sendcount, sendtype)),
                                        equal_blocks(recvbuf, recvcount, recvtype));
}

Status neighbor_allgatherv(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype,
                           void* recvbuf, Counts recvcounts, Counts displs, const Datatype& recvtype,
                           Comm& comm) {
  return coll::exchange_with_neighbours(comm, Blocks(layout(sendbuf, sendcount, sendtype)),
                                        blocks(recvbuf, recvcounts, displs, recvtype));
}

Status neighbor_alltoall(Rank&, const void* sendbuf, Count sendcount, const Datatype& sendtype, void* recvbuf,
                         Count recvcount, const Datatype& recvtype, Comm& comm) {
  return coll::exchange_with_neighbours(comm, equal_blocks(sendbuf, sendcount, sendtype),
                                        equal_blocks(recvbuf, recvcount, recvtype));
}

Status neighbor_alltoallv(Rank&, const void* sendbuf, Counts sendcounts, Counts sdispls,
                          const Datatype& sendtype, void* recvbuf, Counts recvcounts, Counts rdispls,
                          const Datatype& recvtype, Comm& comm) {
  return coll::exchange_with_neighbours(comm, blocks(sendbuf, sendcounts, sdispls, sendtype),
                                        blocks(recvbuf, recvcounts, rdispls, recvtype));
}

Status neighbor_alltoallw(Rank& self, const void* sendbuf, Counts sendcounts, const MPI_Aint sdispls[],
                          const MPI_Datatype sendtypes[], void* recvbuf, Counts recvcounts,
                          const MPI_Aint rdispls[], const MPI_Datatype recvtypes[], Comm& comm) {
  const auto out_types = resolve(self, sendtypes, comm.topology->destinations().blocks);
  const auto in_types = resolve(self, recvtypes, comm.topology->sources().blocks);
  return coll::exchange_with_neighbours(comm, typed_blocks(sendbuf, sendcounts, sdispls, out_types),
                                        typed_blocks(recvbuf, recvcounts, rdispls, in_types));
}

}  // namespace clump::mpi
