// The descriptor that gfortran makes of an argument that is TYPE(*), DIMENSION(..) in a procedure that is not
// BIND(C), as those of MPICH's mpi_f08 are: another one than that of Fortran 2018. gfortran 8 and later have
// it.
#pragma once

#include "descriptor.h"

namespace clump::fortran {

struct CompilersDimension {
  std::ptrdiff_t stride;  ///< elements from one to the next
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t upper_bound;
};

struct CompilersDescriptor {
  void* address;  ///< of the first element
  std::size_t offset;
  std::size_t element_size;  ///< bytes
  int version;
  signed char rank;
  signed char type;
  short attribute;
  std::ptrdiff_t span;  ///< bytes that strides count
  CompilersDimension dimensions[15];
};
static_assert(offsetof(CompilersDescriptor, rank) == 28 && offsetof(CompilersDescriptor, dimensions) == 40);

/// The descriptor of Fortran 2018 of the same argument. An array of assumed size, whose last bounds say
/// nothing, has no elements by them and counts as contiguous.
class Described {
 public:
  explicit Described(const CompilersDescriptor* array) {
    own_.address = array->address;
    own_.element_size = array->element_size;
    own_.version = 0;
    own_.rank = array->rank;
    const std::ptrdiff_t span =
        array->span > 0 ? array->span : static_cast<std::ptrdiff_t>(array->element_size);
    for (int i = 0; i < array->rank; ++i) {
      const CompilersDimension& from = array->dimensions[i];
      const std::ptrdiff_t extent = from.upper_bound - from.lower_bound + 1;
      own_.dimensions[i] = {from.lower_bound, extent > 0 ? extent : 0, from.stride * span};
    }
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  [[nodiscard]] const Descriptor* descriptor() const { return &own_; }

 private:
  Descriptor own_;
};

}  // namespace clump::fortran
