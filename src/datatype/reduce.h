// The predefined reduction operations on the predefined datatypes (MPI-5.0 sections 6.9.2 to 6.9.4), as loops
// over elements.
#pragma once

#include "datatype/datatype.h"

namespace clump::datatype {

/// The values are those of the ABI's MPI_Op handles.
enum class PredefinedOp : std::intptr_t {
  kSum = 0x21,
  kMin = 0x22,
  kMax = 0x23,
  kProd = 0x24,
  kBand = 0x28,
  kBor = 0x29,
  kBxor = 0x2a,
  kLand = 0x30,
  kLor = 0x31,
  kLxor = 0x32,
  kMinloc = 0x38,
  kMaxloc = 0x39,
  kReplace = 0x3c,  ///< one-sided operations only, as is kNoOp
  kNoOp = 0x3d,
};

/// out[i] = left[i] op right[i] for n elements, which lie as an array of the type does. `out` may be `right`;
/// otherwise the arrays do not overlap. They are aligned as the type needs it. Integers wrap around; min and
/// max of a NaN are unspecified. Any thread.
using Kernel = void (*)(const void* left, const void* right, void* out, Count n);

/// The instructions that a kernel may use besides those that every machine has.
enum class Vectors : std::uint8_t {
  kPlain,
  kAvx2,    ///< AVX2 and F16C
  kAvx512,  ///< these, and AVX-512 F, BW, DQ and VL
};

/// What this machine executes. Any thread.
Vectors widest_vectors();

/// Null if the standard does not define the operation on this type (derived types included), or if the
/// compiler that built this library has no arithmetic for it (128-bit floating point). All versions give the
/// same bits. The version must be one that the machine executes, if it is called.
Kernel kernel(PredefinedOp op, const Datatype& type, Vectors vectors = widest_vectors());

/// "MPI_SUM" and so on, for messages; null if there is no such operation.
const char* name_of(PredefinedOp op);

}  // namespace clump::datatype
