// Operations of the user (MPI-5.0 section 6.9.5).
#include "core/handle_table.h"
#include "core/rank.h"
#include "mpi/bodies.h"

namespace clump::mpi {

using base::Status;
using core::Op;
using core::Rank;

Status op_create(Rank& self, MPI_User_function* user_fn, MPI_User_function_c* user_fn_c, int commute,
                 MPI_Op* op) {
  *op = self.add(user_fn != nullptr ? base::make_ref<Op>(user_fn, commute != 0)
                                    : base::make_ref<Op>(user_fn_c, commute != 0));
  return {};
}

Status op_free(Rank& self, MPI_Op* op) {
  if (core::value_of(*op) < core::kPredefinedHandles)
    return base::fail(MPI_ERR_OP, "(op = {:#x}): a predefined operation cannot be freed",
                      core::value_of(*op));
  self.remove(*op);
  *op = MPI_OP_NULL;
  return {};
}

Status op_commutative(Rank&, Op& op, int* commute) {
  *commute = op.commutative() ? 1 : 0;
  return {};
}

}  // namespace clump::mpi
