// Reduction operations (MPI-5.0 section 6.9): predefined ones and the user's.
#pragma once

#include "base/ref.h"
#include "base/status.h"
#include "base/types.h"
#include "datatype/datatype.h"

namespace clump::core {

class Op final : public base::RefCounted {
 public:
  explicit Op(MPI_Op predefined);
  Op(MPI_User_function* function, bool commutative) : small_(function), commutative_(commutative) {}
  Op(MPI_User_function_c* function, bool commutative) : large_(function), commutative_(commutative) {}

  bool commutative() const { return commutative_; }
  bool is_predefined() const { return predefined_ != MPI_OP_NULL; }
  /// MPI_ERR_OP with both names when the standard does not allow this operation on this type.
  base::Status check(const datatype::Datatype& type) const;
  /// inout[i] = in[i] op inout[i]. `handle` is what a user function is given.
  void apply(const void* in, void* inout, Count count, const datatype::Datatype& type, MPI_Datatype handle) const;

 private:
  MPI_Op predefined_ = MPI_OP_NULL;
  MPI_User_function* small_ = nullptr;
  MPI_User_function_c* large_ = nullptr;
  bool commutative_ = true;
};

}  // namespace clump::core
