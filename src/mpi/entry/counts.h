// Counts: an array of counts or displacements of the user, whose width depends on whether the call was MPI_X
// or MPI_X_c.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace clump::mpi {

static_assert(sizeof(MPI_Count) == 8 && sizeof(MPI_Aint) == 8, "wide arrays are read as 64-bit numbers");

/// A view: the user owns the array. Null where an argument has no meaning in a call (MPI_IN_PLACE, not the
/// root).
class Counts {
 public:
  Counts() = default;
  Counts(const int* data) : data_(data) {}                        // NOLINT: as the user's argument
  Counts(const std::int64_t* data) : data_(data), wide_(true) {}  // NOLINT

  Count operator[](std::size_t i) const {
    return wide_ ? static_cast<const std::int64_t*>(data_)[i] : static_cast<const int*>(data_)[i];
  }
  const void* data() const { return data_; }
  bool wide() const { return wide_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  const void* data_ = nullptr;
  bool wide_ = false;
};

}  // namespace clump::mpi
