// Reduction operations (MPI-5.0 section 6.9): predefined ones and the user's.
#pragma once

#include "base/ref.h"
#include "base/status.h"
#include "base/types.h"
#include "datatype/datatype.h"
#include "datatype/reduce.h"

namespace clump::core {

/// Immutable; any thread.
class Op final : public base::RefCounted {
 public:
  explicit Op(MPI_Op predefined) : predefined_(predefined) {}
  Op(MPI_User_function* function, bool commutative) : small_(function), commutative_(commutative) {}
  Op(MPI_User_function_c* function, bool commutative) : large_(function), commutative_(commutative) {}

  bool commutative() const { return commutative_; }
  bool is_predefined() const { return predefined_ != MPI_OP_NULL; }
  /// A user's; null for a predefined one.
  const void* function() const {
    return large_ != nullptr ? reinterpret_cast<const void*>(large_) : reinterpret_cast<const void*>(small_);
  }
  /// Of a predefined one; MPI_OP_NULL for a user's.
  MPI_Op handle() const { return predefined_; }
  /// Whether collectives may use this operation on this type: MPI_ERR_OP, with both names, if it is not
  /// defined there. User functions take any type.
  base::Status check(const datatype::Datatype& type) const;
  /// Of what check() allows: whether the standard does, too (MPI-5.0 section 6.9.2).
  bool is_standard(const datatype::Datatype& type) const;
  /// Of a predefined one, "MPI_SUM".
  const char* name() const;
  /// The loop of a predefined operation, for a type that check() allows; null for a user's.
  datatype::Kernel kernel(const datatype::Datatype& type) const;
  /// inout[i] = in[i] op inout[i]. `handle` is what a user function is given for the type. check() was
  /// successful.
  void apply(const void* in, void* inout, Count count, const datatype::Datatype& type,
             MPI_Datatype handle) const;

 private:
  MPI_Op predefined_ = MPI_OP_NULL;
  MPI_User_function* small_ = nullptr;
  MPI_User_function_c* large_ = nullptr;
  bool commutative_ = true;
};

}  // namespace clump::core
