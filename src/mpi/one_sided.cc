// One-sided communication (MPI-5.0 section 12.3): puts, gets, accumulates.
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/layout.h"
#include "rma/window.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using datatype::Datatype;
using datatype::Layout;
using rma::Window;

Status find_op(const core::Op& op, datatype::PredefinedOp& predefined) {
  if (!op.is_predefined())
    return base::fail(
        MPI_ERR_OP,
        "(op): it was made by MPI_Op_create; one-sided communication has the predefined operations "
        "only (MPI-5.0 section 12.3.4)");
  predefined = static_cast<datatype::PredefinedOp>(core::value_of(op.handle()));
  return {};
}

Status combine(Window& win, rma::Combination&& what, const rma::Place& place, const core::Op& op,
               MPI_Request* request) {
  CLUMP_TRY(find_op(op, what.op));
  return win.combine(what, place, request);
}

Status check_address(const char* name, const void* address) {
  return address != nullptr ? Status()
                            : base::fail(MPI_ERR_BUFFER, "({} = NULL): an address is needed", name);
}

/// For functions whose only datatype is that of single elements.
Status check_single(const Datatype& type) {
  return type.is_basic() ? Status()
                         : base::fail(MPI_ERR_TYPE, "(datatype = {}): a predefined datatype is needed",
                                      type.description());
}

}  // namespace

Status put(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
           int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
           Window& win) {
  return win.put(layout(origin_addr, origin_count, origin_datatype),
                 {target_rank, target_disp, target_count, target_datatype});
}

Status rput(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
            int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
            Window& win, MPI_Request* request) {
  return win.put(layout(origin_addr, origin_count, origin_datatype),
                 {target_rank, target_disp, target_count, target_datatype}, request);
}

Status get(Rank&, void* origin_addr, Count origin_count, const Datatype& origin_datatype, int target_rank,
           MPI_Aint target_disp, Count target_count, const Datatype& target_datatype, Window& win) {
  return win.get(layout(origin_addr, origin_count, origin_datatype),
                 {target_rank, target_disp, target_count, target_datatype});
}

Status rget(Rank&, void* origin_addr, Count origin_count, const Datatype& origin_datatype, int target_rank,
            MPI_Aint target_disp, Count target_count, const Datatype& target_datatype, Window& win,
            MPI_Request* request) {
  return win.get(layout(origin_addr, origin_count, origin_datatype),
                 {target_rank, target_disp, target_count, target_datatype}, request);
}

Status accumulate(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                  int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
                  core::Op& op, Window& win) {
  return combine(win, {layout(origin_addr, origin_count, origin_datatype), {}, {}},
                 {target_rank, target_disp, target_count, target_datatype}, op, nullptr);
}

Status raccumulate(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                   int target_rank, MPI_Aint target_disp, Count target_count, const Datatype& target_datatype,
                   core::Op& op, Window& win, MPI_Request* request) {
  return combine(win, {layout(origin_addr, origin_count, origin_datatype), {}, {}},
                 {target_rank, target_disp, target_count, target_datatype}, op, request);
}

Status get_accumulate(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                      void* result_addr, Count result_count, const Datatype& result_datatype, int target_rank,
                      MPI_Aint target_disp, Count target_count, const Datatype& target_datatype, core::Op& op,
                      Window& win) {
  return combine(win,
                 {layout(origin_addr, origin_count, origin_datatype),
                  layout(result_addr, result_count, result_datatype),
                  {}},
                 {target_rank, target_disp, target_count, target_datatype}, op, nullptr);
}

Status rget_accumulate(Rank&, const void* origin_addr, Count origin_count, const Datatype& origin_datatype,
                       void* result_addr, Count result_count, const Datatype& result_datatype,
                       int target_rank, MPI_Aint target_disp, Count target_count,
                       const Datatype& target_datatype, core::Op& op, Window& win, MPI_Request* request) {
  return combine(win,
                 {layout(origin_addr, origin_count, origin_datatype),
                  layout(result_addr, result_count, result_datatype),
                  {}},
                 {target_rank, target_disp, target_count, target_datatype}, op, request);
}

Status fetch_and_op(Rank&, const void* origin_addr, void* result_addr, const Datatype& datatype,
                    int target_rank, MPI_Aint target_disp, core::Op& op, Window& win) {
  CLUMP_TRY(check_single(datatype));
  CLUMP_TRY(check_address("result_addr", result_addr));
  if (op.handle() != MPI_NO_OP) CLUMP_TRY(check_address("origin_addr", origin_addr));
  return combine(win, {layout(origin_addr, 1, datatype), layout(result_addr, 1, datatype), {}},
                 {target_rank, target_disp, 1, datatype}, op, nullptr);
}

Status compare_and_swap(Rank&, const void* origin_addr, const void* compare_addr, void* result_addr,
                        const Datatype& datatype, int target_rank, MPI_Aint target_disp, Window& win) {
  CLUMP_TRY(check_single(datatype));
  CLUMP_TRY(check_address("origin_addr", origin_addr));
  CLUMP_TRY(check_address("compare_addr", compare_addr));
  CLUMP_TRY(check_address("result_addr", result_addr));
  return win.compare_and_swap(origin_addr, compare_addr, result_addr,
                              {target_rank, target_disp, 1, datatype});
}

}  // namespace clump::mpi
