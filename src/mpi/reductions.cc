// The reducing collectives (MPI-5.0 sections 6.9 to 6.11), blocking, non-blocking and persistent: `timing`
// tells. Arguments were checked at the entry, but for whether the operation suits the type.
#include "coll/coll.h"
#include "core/rank.h"
#include "mpi/bodies.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Op;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;

/// The operands; in place they are where the result shall be.
Layout operands(const void* sendbuf, void* recvbuf, Count count, const Datatype& type) {
  return {sendbuf == MPI_IN_PLACE ? recvbuf : const_cast<void*>(sendbuf), count, &type};
}

/// Whether the operation is defined on the type, be it by this library alone.
Status check_operation(const Rank& self, const Op& op, const Datatype& type) {
  CLUMP_TRY(op.check(type));
  if (self.sites == nullptr || op.is_standard(type)) [[likely]]
    return {};
  self.remark(core::Remark::Kind::kUncommon,
              fmt::format("combines {} with {}, which the standard does not define (MPI-5.0 section 6.9.2)",
                          type.description(), op.name()));
  return {};
}

Layout result(void* recvbuf, Count count, const Datatype& type) { return {recvbuf, count, &type}; }

}  // namespace

Status reduce(Rank& self, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
              MPI_Datatype datatype_handle, Op& op, int root, Comm& comm, const Timing& timing) {
  if (root != MPI_PROC_NULL) CLUMP_TRY(check_operation(self, op, datatype));
  const Layout in = operands(sendbuf, recvbuf, count, datatype);
  const Layout out = result(recvbuf, count, datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm, coll::Call::reduce(reduction, in, out, root), timing, {&datatype});
}

Status allreduce(Rank& self, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
                 MPI_Datatype datatype_handle, Op& op, Comm& comm, const Timing& timing) {
  CLUMP_TRY(check_operation(self, op, datatype));
  const Layout in = operands(sendbuf, recvbuf, count, datatype);
  const Layout out = result(recvbuf, count, datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm, coll::Call::allreduce(reduction, in, out), timing, {&datatype});
}

Status reduce_scatter(Rank& self, const void* sendbuf, void* recvbuf, Counts recvcounts,
                      const Datatype& datatype, MPI_Datatype datatype_handle, Op& op, Comm& comm,
                      const Timing& timing) {
  CLUMP_TRY(check_operation(self, op, datatype));
  const coll::Numbers counts = recvcounts.wide() ? coll::Numbers(static_cast<const Count*>(recvcounts.data()))
                                                 : coll::Numbers(static_cast<const int*>(recvcounts.data()));
  const Layout in = operands(sendbuf, recvbuf, coll::total_of(comm, counts), datatype);
  const Layout out = result(recvbuf, recvcounts[comm.rank], datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm, coll::Call::reduce_scatter(comm, reduction, in, out, counts), timing, {&datatype});
}

Status reduce_scatter_block(Rank& self, const void* sendbuf, void* recvbuf, Count recvcount,
                            const Datatype& datatype, MPI_Datatype datatype_handle, Op& op, Comm& comm,
                            const Timing& timing) {
  CLUMP_TRY(check_operation(self, op, datatype));
  const Layout in = operands(sendbuf, recvbuf, comm.size() * recvcount, datatype);
  const Layout out = result(recvbuf, recvcount, datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm,
             coll::Call::reduce_scatter_block(comm, reduction, in, out).by(coll::Caller::kReduceScatterBlock),
             timing, {&datatype});
}

Status scan(Rank& self, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
            MPI_Datatype datatype_handle, Op& op, Comm& comm, const Timing& timing) {
  CLUMP_TRY(check_operation(self, op, datatype));
  const Layout in = operands(sendbuf, recvbuf, count, datatype);
  const Layout out = result(recvbuf, count, datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm, coll::Call::scan(reduction, in, out), timing, {&datatype});
}

Status exscan(Rank& self, const void* sendbuf, void* recvbuf, Count count, const Datatype& datatype,
              MPI_Datatype datatype_handle, Op& op, Comm& comm, const Timing& timing) {
  CLUMP_TRY(check_operation(self, op, datatype));
  const Layout in = operands(sendbuf, recvbuf, count, datatype);
  const Layout out = result(recvbuf, count, datatype);
  const coll::Reduction reduction{&op, datatype_handle};
  return run(comm, coll::Call::exscan(reduction, in, out), timing, {&datatype});
}

Status reduce_local(Rank& self, const void* inbuf, void* inoutbuf, Count count, const Datatype& datatype,
                    MPI_Datatype datatype_handle, Op& op) {
  CLUMP_TRY(check_operation(self, op, datatype));
  if (count > 0) op.apply(inbuf, inoutbuf, count, datatype, datatype_handle);
  return {};
}

}  // namespace clump::mpi
