#include "datatype/reduce.h"

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "datatype/reduce_loops.h"
#include "datatype/scalars.h"

namespace clump::datatype {
namespace {

using namespace loops;

template <Count kBytes>
void replace(const void* left, const void*, void* out, Count n) {
  std::memcpy(out, left, static_cast<std::size_t>(n * kBytes));
}

template <Count kBytes>
void keep(const void*, const void* right, void* out, Count n) {
  if (out != right) std::memcpy(out, right, static_cast<std::size_t>(n * kBytes));
}

template <typename T>
const Versions* order(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kMin:
      return &kEach<T, Min>;
    case PredefinedOp::kMax:
      return &kEach<T, Max>;
    default:
      return nullptr;
  }
}

template <typename T>
const Versions* arithmetic(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kSum:
      return &kEach<T, Sum>;
    case PredefinedOp::kProd:
      return &kEach<T, Prod>;
    default:
      return nullptr;
  }
}

template <typename T>
const Versions* bits(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kBand:
      return &kEach<T, BitAnd>;
    case PredefinedOp::kBor:
      return &kEach<T, BitOr>;
    case PredefinedOp::kBxor:
      return &kEach<T, BitXor>;
    default:
      return nullptr;
  }
}

template <typename T>
const Versions* logic(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kLand:
      return &kEach<T, LogicalAnd>;
    case PredefinedOp::kLor:
      return &kEach<T, LogicalOr>;
    case PredefinedOp::kLxor:
      return &kEach<T, LogicalXor>;
    default:
      return nullptr;
  }
}

template <typename T>
const Versions* real(PredefinedOp op) {
  const Versions* const found = order<T>(op);
  return found != nullptr ? found : arithmetic<T>(op);
}

// Fortran integers
template <typename T>
const Versions* integer(PredefinedOp op) {
  const Versions* const found = real<T>(op);
  return found != nullptr ? found : bits<T>(op);
}

template <typename T>
const Versions* c_integer(PredefinedOp op) {
  const Versions* const found = integer<T>(op);
  return found != nullptr ? found : logic<T>(op);
}

template <typename Value, typename Index>
const Versions* location(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kMinloc:
      return &kEachLocation<Value, Index, std::less<>>;
    case PredefinedOp::kMaxloc:
      return &kEachLocation<Value, Index, std::greater<>>;
    default:
      return nullptr;
  }
}

const Versions* signed_kernel(PredefinedOp op, Count size) {
  switch (size) {
    case 1:
      return c_integer<std::int8_t>(op);
    case 2:
      return c_integer<std::int16_t>(op);
    case 4:
      return c_integer<std::int32_t>(op);
    default:
      return c_integer<std::int64_t>(op);
  }
}

const Versions* unsigned_kernel(PredefinedOp op, Count size) {
  switch (size) {
    case 1:
      return c_integer<std::uint8_t>(op);
    case 2:
      return c_integer<std::uint16_t>(op);
    case 4:
      return c_integer<std::uint32_t>(op);
    default:
      return c_integer<std::uint64_t>(op);
  }
}

/// The number that a `char` of C is.
const Versions* char_kernel(PredefinedOp op) {
  return std::is_signed_v<char> ? signed_kernel(op, 1) : unsigned_kernel(op, 1);
}

const Versions* fortran_integer_kernel(PredefinedOp op, Count size) {
  switch (size) {
    case 1:
      return integer<std::int8_t>(op);
    case 2:
      return integer<std::int16_t>(op);
    case 4:
      return integer<std::int32_t>(op);
    case 8:
      return integer<std::int64_t>(op);
    default:
      return integer<__int128>(op);
  }
}

const Versions* logical_kernel(PredefinedOp op, Count size) {
  switch (size) {
    case 1:
      return logic<std::uint8_t>(op);
    case 2:
      return logic<std::uint16_t>(op);
    case 4:
      return logic<std::uint32_t>(op);
    case 8:
      return logic<std::uint64_t>(op);
    default:
      return logic<unsigned __int128>(op);
  }
}

const Versions* half(PredefinedOp op) {
  const Versions* const found = order<OrderedHalf>(op);
  return found != nullptr ? found : arithmetic<Half>(op);
}

const Versions* floating_kernel(PredefinedOp op, const Datatype& type) {
  if (&type == predefined(MPI_LONG_DOUBLE)) return real<long double>(op);
  switch (type.size()) {
    case 2:
      return half(op);
    case 4:
      return real<float>(op);
    case 8:
      return real<double>(op);
#ifdef CLUMP_HAS_QUAD
    case 16:
      return real<Quad>(op);
#endif
    default:
      return nullptr;
  }
}

const Versions* complex_kernel(PredefinedOp op, const Datatype& type) {
  if (&type == predefined(MPI_C_LONG_DOUBLE_COMPLEX) || &type == predefined(MPI_CXX_LONG_DOUBLE_COMPLEX)) {
    return arithmetic<Complex<long double>>(op);
  }
  switch (type.size()) {
    case 4:
      return arithmetic<Complex<Half>>(op);
    case 8:
      return arithmetic<Complex<float>>(op);
    case 16:
      return arithmetic<Complex<double>>(op);
#ifdef CLUMP_HAS_QUAD
    case 32:
      return arithmetic<Complex<Quad>>(op);
#endif
    default:
      return nullptr;
  }
}

// Indices are integers of 4 or 8 bytes, but for Fortran's arrays of two equal numbers.
template <typename Value>
const Versions* location_by(PredefinedOp op, const Datatype& index) {
  const bool is_signed = index.kind() == Class::kInteger || index.kind() == Class::kFortranInteger ||
                         index.kind() == Class::kMultiLanguage;
  if (is_signed && index.size() == 4) return location<Value, std::int32_t>(op);
  if (is_signed && index.size() == 8) return location<Value, std::int64_t>(op);
  return nullptr;
}

const Versions* location_of_integer(PredefinedOp op, const Datatype& value, const Datatype& index) {
  const bool is_unsigned = value.kind() == Class::kUnsigned;
  switch (value.size()) {
    case 1:
      return is_unsigned ? location_by<std::uint8_t>(op, index) : location_by<std::int8_t>(op, index);
    case 2:
      return is_unsigned ? location_by<std::uint16_t>(op, index) : location_by<std::int16_t>(op, index);
    case 4:
      return is_unsigned ? location_by<std::uint32_t>(op, index) : location_by<std::int32_t>(op, index);
    case 8:
      return is_unsigned ? location_by<std::uint64_t>(op, index) : location_by<std::int64_t>(op, index);
    default:
      return nullptr;
  }
}

const Versions* pair_kernel(PredefinedOp op, const Datatype& type) {
  const Datatype &value = *type.value(), &index = *type.index();
  if (&type == predefined(MPI_2REAL)) return location<float, float>(op);
  if (&type == predefined(MPI_2DOUBLE_PRECISION)) return location<double, double>(op);
  switch (value.kind()) {
    case Class::kInteger:
    case Class::kUnsigned:
    case Class::kFortranInteger:
    case Class::kMultiLanguage:
      return location_of_integer(op, value, index);
    case Class::kFloating:
      if (&value == predefined(MPI_LONG_DOUBLE)) return location_by<long double>(op, index);
      return value.size() == 4   ? location_by<float>(op, index)
             : value.size() == 8 ? location_by<double>(op, index)
                                 : nullptr;
    default:
      return nullptr;
  }
}

template <Count kBytes>
Kernel copying(PredefinedOp op) {
  return op == PredefinedOp::kReplace ? replace<kBytes> : keep<kBytes>;
}

Kernel copying_kernel(PredefinedOp op, Count extent) {
  switch (extent) {
    case 1:
      return copying<1>(op);
    case 2:
      return copying<2>(op);
    case 4:
      return copying<4>(op);
    case 8:
      return copying<8>(op);
    case 16:
      return copying<16>(op);
    default:
      return copying<32>(op);
  }
}

const Versions* versions_of(PredefinedOp op, const Datatype& type) {
  switch (type.kind()) {
    case Class::kInteger:
      return signed_kernel(op, type.size());
    case Class::kUnsigned:
      return unsigned_kernel(op, type.size());
    case Class::kFortranInteger:
      return fortran_integer_kernel(op, type.size());
    case Class::kMultiLanguage:
      return signed_kernel(op, type.size());
    case Class::kFloating:
      return floating_kernel(op, *type.element());
    case Class::kComplex:
      return complex_kernel(op, *type.element());
    case Class::kLogical:
      return logical_kernel(op, type.size());
    case Class::kByte:
      return bits<std::uint8_t>(op);
    case Class::kPair:
      return pair_kernel(op, type);
    case Class::kCharacter:
      return &type == predefined(MPI_CHAR) ? char_kernel(op) : nullptr;
    case Class::kDerived:
    case Class::kPacked:
      return nullptr;
  }
  return nullptr;
}

}  // namespace

Vectors widest_vectors() {
#if defined(__x86_64__)
  static const Vectors widest = [] {
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
    __get_cpuid(1, &eax, &ebx, &ecx, &edx);  // Clang 14 cannot be asked for F16C
    if (!__builtin_cpu_supports("avx2") || (ecx & bit_F16C) == 0) return Vectors::kPlain;
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return avx512 ? Vectors::kAvx512 : Vectors::kAvx2;
  }();
  return widest;
#else
  return Vectors::kPlain;
#endif
}

Kernel kernel(PredefinedOp op, const Datatype& type, Vectors vectors) {
  if (!type.is_basic()) return nullptr;
  if (op == PredefinedOp::kReplace || op == PredefinedOp::kNoOp) return copying_kernel(op, type.extent());
  const Versions* const found = versions_of(op, type);
  return found != nullptr ? (*found)[static_cast<std::size_t>(vectors)] : nullptr;
}

bool is_standard(PredefinedOp op, const Datatype& type) {
  if (type.kind() == Class::kCharacter) return false;
  const bool is_logical = op == PredefinedOp::kLand || op == PredefinedOp::kLor || op == PredefinedOp::kLxor;
  return type.kind() != Class::kMultiLanguage || !is_logical;
}

const char* name_of(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kSum:
      return "MPI_SUM";
    case PredefinedOp::kMin:
      return "MPI_MIN";
    case PredefinedOp::kMax:
      return "MPI_MAX";
    case PredefinedOp::kProd:
      return "MPI_PROD";
    case PredefinedOp::kBand:
      return "MPI_BAND";
    case PredefinedOp::kBor:
      return "MPI_BOR";
    case PredefinedOp::kBxor:
      return "MPI_BXOR";
    case PredefinedOp::kLand:
      return "MPI_LAND";
    case PredefinedOp::kLor:
      return "MPI_LOR";
    case PredefinedOp::kLxor:
      return "MPI_LXOR";
    case PredefinedOp::kMinloc:
      return "MPI_MINLOC";
    case PredefinedOp::kMaxloc:
      return "MPI_MAXLOC";
    case PredefinedOp::kReplace:
      return "MPI_REPLACE";
    case PredefinedOp::kNoOp:
      return "MPI_NO_OP";
  }
  return nullptr;
}

}  // namespace clump::datatype
