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

/// Null if the operation is not defined on this type (as on derived types), or if the compiler that built
/// this library has no arithmetic for it (128-bit floating point). Besides what the standard defines (MPI-5.0
/// section 6.9.2) these are, as in other libraries, the operations of C integers on MPI_CHAR, and the logical
/// ones on MPI_AINT, MPI_OFFSET and MPI_COUNT. All versions give the same bits. The version must be one that
/// the machine executes, if it is called.
Kernel kernel(PredefinedOp op, const Datatype& type, Vectors vectors = widest_vectors());

/// Whether the standard defines an operation that has a kernel.
bool is_standard(PredefinedOp op, const Datatype& type);

/// "MPI_SUM" and so on, for messages; null if there is no such operation.
const char* name_of(PredefinedOp op);

}  // namespace clump::datatype
