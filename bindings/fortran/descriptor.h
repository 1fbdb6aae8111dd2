// The descriptor of an argument that is TYPE(*), DIMENSION(..) or CHARACTER(LEN=*) in a BIND(C) procedure
// (Fortran 2018, section 18.5). Not ISO_Fortran_binding.h: compilers differ in the order of its fields `type`
// and `attribute`, and what this library reads lies at the same place in gfortran's and in flang's.
#pragma once

#include <cstddef>

namespace clump::fortran {

struct Dimension {
  std::ptrdiff_t lower_bound;
  std::ptrdiff_t extent;  ///< -1 in the last dimension of an array of assumed size
  std::ptrdiff_t stride;  ///< bytes from an element to the next
};

struct Descriptor {
  void* address;
  std::size_t element_size;  ///< bytes
  int version;
  signed char rank;
  unsigned char compilers_own[3];
  Dimension dimensions[15];  ///< as many as the rank says
};
static_assert(offsetof(Descriptor, dimensions) == 24);

/// Whether the elements follow each other without gaps. There may be none at all.
inline bool is_contiguous(const Descriptor& array) {
  for (int i = 0; i < array.rank; ++i)
    if (array.dimensions[i].extent == 0) return true;
  auto expected = static_cast<std::ptrdiff_t>(array.element_size);
  for (int i = 0; i < array.rank; ++i) {
    if (array.dimensions[i].extent == 1) continue;
    if (array.dimensions[i].stride != expected) return false;
    if (array.dimensions[i].extent < 0) return true;
    expected *= array.dimensions[i].extent;
  }
  return true;
}

}  // namespace clump::fortran
