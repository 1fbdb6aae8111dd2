#include "core/op.h"

#include <algorithm>
#include <climits>
#include <optional>

#include "core/handle_table.h"
#include "core/lent_handle.h"
#include "core/rank.h"
#include "net/joint_work.h"

namespace clump::core {

namespace {

datatype::PredefinedOp predefined(MPI_Op op) { return static_cast<datatype::PredefinedOp>(value_of(op)); }

}  // namespace

base::Status Op::check(const datatype::Datatype& type) const {
  if (!is_predefined()) return {};
  if (predefined_ == MPI_REPLACE || predefined_ == MPI_NO_OP)
    return base::fail(
        MPI_ERR_OP,
        "(op = {}): this operation is for one-sided communication (MPI_Accumulate and its family) only",
        datatype::name_of(predefined(predefined_)));
  if (datatype::kernel(predefined(predefined_), type) != nullptr) return {};
  return base::fail(MPI_ERR_OP, "(op = {}, datatype = {}): the operation is not defined on this type{}",
                    datatype::name_of(predefined(predefined_)), type.description(),
                    type.is_predefined() ? "" : "; derived datatypes need one made with MPI_Op_create");
}

bool Op::is_standard(const datatype::Datatype& type) const {
  return !is_predefined() || datatype::is_standard(predefined(predefined_), type);
}

const char* Op::name() const { return datatype::name_of(predefined(predefined_)); }

datatype::Kernel Op::kernel(const datatype::Datatype& type) const {
  return is_predefined() ? datatype::kernel(predefined(predefined_), type) : nullptr;
}

void Op::apply(const void* in, void* inout, Count count, const datatype::Datatype& type,
               MPI_Datatype handle) const {
  if (is_predefined()) return net::joint_combine(kernel(type), in, inout, count, type);
  Rank* const rank = current_rank();  // only threads of the rank whose function it is get here
  std::optional<LentHandle> lent;
  if (rank != nullptr && !type.is_predefined()) handle = lent.emplace(*rank, type, handle).handle;
  if (large_ != nullptr) return large_(const_cast<void*>(in), inout, &count, &handle);
  // A function with int counts gets a large operand in parts.
  for (Count first = 0; first < count; first += INT_MAX) {
    auto length = static_cast<int>(std::min<Count>(count - first, INT_MAX));
    const Count offset = first * type.extent();
    MPI_Datatype given = handle;
    small_(const_cast<char*>(static_cast<const char*>(in)) + offset, static_cast<char*>(inout) + offset,
           &length, &given);
  }
}

}  // namespace clump::core
