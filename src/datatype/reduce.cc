#include "datatype/reduce.h"
#include "datatype/scalars.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

namespace clump::datatype {
namespace {

// An unsigned type at least as wide as int, in which sums and products wrap around instead of being
// undefined.
template <typename T>
using Wrapping =
    std::conditional_t<sizeof(T) <= 4, std::uint32_t,
                       std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                          std::conditional_t<sizeof(T) == 16, unsigned __int128, void>>>;

template <typename T>
constexpr bool kIsInteger = std::is_integral_v<T> || std::is_same_v<T, __int128>;

template <typename T>
struct Complex {
  T real, imaginary;
};

template <typename Value, typename Index>
struct Pair {
  Value value;
  Index index;
};

struct Sum {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInteger<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    return static_cast<T>(a + b);
  }
  template <typename T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {static_cast<T>(a.real + b.real), static_cast<T>(a.imaginary + b.imaginary)};
  }
};

struct Prod {
  template <typename T>
  T operator()(T a, T b) const {
    if constexpr (kIsInteger<T>)
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    return static_cast<T>(a * b);
  }
  template <typename T>
  Complex<T> operator()(Complex<T> a, Complex<T> b) const {
    return {static_cast<T>(a.real * b.real - a.imaginary * b.imaginary),
            static_cast<T>(a.real * b.imaginary + a.imaginary * b.real)};
  }
};

struct Min {
  template <typename T>
  T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};

struct Max {
  template <typename T>
  T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

struct BitAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a & b);
  }
};

struct BitOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a | b);
  }
};

struct BitXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(a ^ b);
  }
};

// Without short-circuit evaluation, which would keep the loops from being vectorised.
struct LogicalAnd {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>(static_cast<int>(a != 0) & static_cast<int>(b != 0));
  }
};

struct LogicalOr {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>((a | b) != 0);
  }
};

struct LogicalXor {
  template <typename T>
  T operator()(T a, T b) const {
    return static_cast<T>((a != 0) != (b != 0));
  }
};

template <typename T, typename Op>
void each(const void* in, void* inout, Count n) {
  const T* __restrict left = static_cast<const T*>(in);
  T* __restrict right = static_cast<T*>(inout);
  for (Count i = 0; i < n; ++i) right[i] = Op{}(left[i], right[i]);
}

// MPI_MINLOC with std::less, MPI_MAXLOC with std::greater: of equal values the smaller index counts (MPI-5.0
// section 6.9.4). Member by member: behind the last index the caller's memory may end, padding or not.
template <typename P, typename Before>
void each_location(const void* in, void* inout, Count n) {
  const P* __restrict left = static_cast<const P*>(in);
  P* __restrict right = static_cast<P*>(inout);
  for (Count i = 0; i < n; ++i) {
    if (left[i].value == right[i].value) {
      right[i].index = std::min(left[i].index, right[i].index);
    } else if (Before{}(left[i].value, right[i].value)) {
      right[i].value = left[i].value;
      right[i].index = left[i].index;
    }
  }
}

template <Count kBytes>
void replace(const void* in, void* inout, Count n) {
  std::memcpy(inout, in, static_cast<std::size_t>(n * kBytes));
}

void no_op(const void*, void*, Count) {}

template <typename T>
Kernel order(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kMin:
      return each<T, Min>;
    case PredefinedOp::kMax:
      return each<T, Max>;
    default:
      return nullptr;
  }
}

template <typename T>
Kernel arithmetic(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kSum:
      return each<T, Sum>;
    case PredefinedOp::kProd:
      return each<T, Prod>;
    default:
      return nullptr;
  }
}

template <typename T>
Kernel bits(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kBand:
      return each<T, BitAnd>;
    case PredefinedOp::kBor:
      return each<T, BitOr>;
    case PredefinedOp::kBxor:
      return each<T, BitXor>;
    default:
      return nullptr;
  }
}

template <typename T>
Kernel logic(PredefinedOp op) {
  switch (op) {
    case PredefinedOp::kLand:
      return each<T, LogicalAnd>;
    case PredefinedOp::kLor:
      return each<T, LogicalOr>;
    case PredefinedOp::kLxor:
      return each<T, LogicalXor>;
    default:
      return nullptr;
  }
}

template <typename T>
Kernel real(PredefinedOp op) {
  const Kernel found = order<T>(op);
  return found != nullptr ? found : arithmetic<T>(op);
}

// Fortran integers and MPI_AINT, MPI_OFFSET, MPI_COUNT
template <typename T>
Kernel integer(PredefinedOp op) {
  const Kernel found = real<T>(op);
  return found != nullptr ? found : bits<T>(op);
}

template <typename T>
Kernel c_integer(PredefinedOp op) {
  const Kernel found = integer<T>(op);
  return found != nullptr ? found : logic<T>(op);
}

template <typename Value, typename Index>
Kernel location(PredefinedOp op) {
  using P = Pair<Value, Index>;
  switch (op) {
    case PredefinedOp::kMinloc:
      return each_location<P, std::less<>>;
    case PredefinedOp::kMaxloc:
      return each_location<P, std::greater<>>;
    default:
      return nullptr;
  }
}

Kernel signed_kernel(PredefinedOp op, Count size) {
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

Kernel unsigned_kernel(PredefinedOp op, Count size) {
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

Kernel other_integer_kernel(PredefinedOp op, Count size) {
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

Kernel logical_kernel(PredefinedOp op, Count size) {
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

Kernel floating_kernel(PredefinedOp op, const Datatype& type) {
  if (&type == predefined(MPI_LONG_DOUBLE)) return real<long double>(op);
  switch (type.size()) {
    case 2:
      return real<Half>(op);
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

Kernel complex_kernel(PredefinedOp op, const Datatype& type) {
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
Kernel location_by(PredefinedOp op, const Datatype& index) {
  const bool is_signed = index.kind() == Class::kInteger || index.kind() == Class::kFortranInteger ||
                         index.kind() == Class::kMultiLanguage;
  if (is_signed && index.size() == 4) return location<Value, std::int32_t>(op);
  if (is_signed && index.size() == 8) return location<Value, std::int64_t>(op);
  return nullptr;
}

Kernel location_of_integer(PredefinedOp op, const Datatype& value, const Datatype& index) {
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

Kernel pair_kernel(PredefinedOp op, const Datatype& type) {
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

Kernel replace_kernel(Count extent) {
  switch (extent) {
    case 1:
      return replace<1>;
    case 2:
      return replace<2>;
    case 4:
      return replace<4>;
    case 8:
      return replace<8>;
    case 16:
      return replace<16>;
    default:
      return replace<32>;
  }
}

}  // namespace

Kernel kernel(PredefinedOp op, const Datatype& type) {
  if (!type.is_basic()) return nullptr;
  if (op == PredefinedOp::kReplace) return replace_kernel(type.extent());
  if (op == PredefinedOp::kNoOp) return no_op;
  switch (type.kind()) {
    case Class::kInteger:
      return signed_kernel(op, type.size());
    case Class::kUnsigned:
      return unsigned_kernel(op, type.size());
    case Class::kFortranInteger:
    case Class::kMultiLanguage:
      return other_integer_kernel(op, type.size());
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
    case Class::kDerived:
    case Class::kCharacter:
    case Class::kPacked:
      return nullptr;
  }
  return nullptr;
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
