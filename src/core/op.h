// Reduction operations (MPI-5.0 section 6.9): predefined ones and the user's.
#pragma once

#include "base/ref.h"
#include "base/status.h"
#include "base/types.h"
#include "datatype/datatype.h"
#include "datatype/reduce.h"

namespace clump::core {

/// A reduction operation. Immutable; any thread.
class Op final : public base::RefCounted {
 public:
  explicit Op(MPI_Op predefined) : predefined_(predefined) {}
  Op(MPI_User_function* function, bool commutative) : small_(function), commutative_(commutative) {}
  Op(MPI_User_function_c* function, bool commutative) : large_(function), commutative_(commutative) {}

  bool commutative() const { return commutative_; }
  bool is_predefined() const { return predefined_ != MPI_OP_NULL; }
  /// The user's function; null for a predefined operation.
  const void* function() const {
    return large_ != nullptr ? reinterpret_cast<const void*>(large_) : reinterpret_cast<const void*>(small_);
  }
  /// The handle of a predefined operation; MPI_OP_NULL for a user's.
  MPI_Op handle() const { return predefined_; }
  /// Whether collectives may use this operation on this type. If it is not defined for the type: MPI_ERR_OP,
  /// with both names. User functions take any type.
  base::Status check(const datatype::Datatype& type) const;
  /// For an operation and type that check() allows: whether the standard allows them, too (MPI-5.0 section
  /// 6.9.2).
  bool is_standard(const datatype::Datatype& type) const;
  /// The name of a predefined operation: "MPI_SUM".
  const char* name() const;
  /// The loop of a predefined operation, for a type that check() allows; null for a user's.
  datatype::Kernel kernel(const datatype::Datatype& type) const;
  /// inout[i] = in[i] op inout[i]. Only if check() was successful. `handle` is what the program calls the
  /// type. A user function gets it, or another one if the program has freed it since; it runs on a thread of
  /// its rank.
  void apply(const void* in, void* inout, Count count, const datatype::Datatype& type,
             MPI_Datatype handle) const;

 private:
  MPI_Op predefined_ = MPI_OP_NULL;
  MPI_User_function* small_ = nullptr;
  MPI_User_function_c* large_ = nullptr;
  bool commutative_ = true;
};

}  // namespace clump::core
