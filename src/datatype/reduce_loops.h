// The loops of the predefined reductions, of which reduce.cc chooses: not for others. Every loop is compiled
// for the instruction set that all machines have, and again for wider vectors. The latter are functions with
// a target attribute that take the body of the loop in, and nothing else is compiled for them: no inline
// function and no template of the standard library has a version that only some machines execute, for the
// linker to pick for all.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "datatype/reduce.h"
#include "datatype/scalars.h"

// What one iteration writes, no later one reads: where the result goes to an operand's place, the compiler
// could not tell.
#if defined(__clang__)
#define CLUMP_INDEPENDENT_ITERATIONS _Pragma("clang loop vectorize(assume_safety)")
#else
#define CLUMP_INDEPENDENT_ITERATIONS _Pragma("GCC ivdep")
#endif

namespace clump::datatype::loops {

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

// Bytes of one number of an element.
template <typename T>
constexpr std::size_t kNumberBytes = sizeof(T);
template <typename T>
constexpr std::size_t kNumberBytes<Complex<T>> = sizeof(T);

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

// A half that is compared as it lies, without conversions to float, so that the loops are vectorised: numbers
// are in the order of their signed magnitudes, and nothing is less than a NaN or more.
struct OrderedHalf {
  std::int16_t bits;

  std::int16_t key() const {
    const auto magnitude = static_cast<std::int16_t>(bits & 0x7fff);
    return static_cast<std::int16_t>(bits < 0 ? -magnitude : magnitude);
  }
  friend bool operator<(OrderedHalf a, OrderedHalf b) {
    return (a.key() < b.key()) & ((a.bits & 0x7fff) <= 0x7c00) & ((b.bits & 0x7fff) <= 0x7c00);
  }
  friend bool operator>(OrderedHalf a, OrderedHalf b) { return b < a; }
};

// A loop is a body, taken in by each version, and knows the widest vectors that it may use.
template <typename T, typename Op>
struct Each {
  static constexpr Vectors widest() {
    constexpr std::size_t number = kNumberBytes<T>;
    if (number > 8) return Vectors::kPlain;
    // GCC 12 makes one operation of a product and a sum of complex numbers, which rounds once instead of
    // twice, even where -ffp-contract=off forbids it. AVX-512 brings such operations, AVX2 does not.
    const bool is_complex = number < sizeof(T);
    return is_complex && std::is_same_v<Op, Prod> ? Vectors::kAvx2 : Vectors::kAvx512;
  }

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* out, Count n) {
    const T* a = static_cast<const T*>(left);
    const T* b = static_cast<const T*>(right);
    T* c = static_cast<T*>(out);
    CLUMP_INDEPENDENT_ITERATIONS
    for (Count i = 0; i < n; ++i) c[i] = Op{}(a[i], b[i]);
  }
};

// MPI_MINLOC with std::less, MPI_MAXLOC with std::greater: of equal values the smaller index counts (MPI-5.0
// section 6.9.4). Member by member: behind the last index the caller's memory may end, padding or not. Never
// vectorised: without the branches it can be, and most pairs gain nothing by that.
template <typename P, typename Before>
struct EachLocation {
  static constexpr Vectors widest() { return Vectors::kPlain; }

  [[gnu::always_inline]] static void run(const void* left, const void* right, void* out, Count n) {
    const P* a = static_cast<const P*>(left);
    const P* b = static_cast<const P*>(right);
    P* c = static_cast<P*>(out);
    for (Count i = 0; i < n; ++i) {
      const bool same = a[i].value == b[i].value;
      const P& found = Before{}(a[i].value, b[i].value) ? a[i] : b[i];
      const auto index = same ? std::min(a[i].index, b[i].index) : found.index;
      c[i].value = found.value;
      c[i].index = index;
    }
  }
};

template <typename Loop>
void plain(const void* left, const void* right, void* out, Count n) {
  Loop::run(left, right, out, n);
}

#if defined(__x86_64__)

template <typename Loop>
[[gnu::target("avx2,f16c")]] void avx2(const void* left, const void* right, void* out, Count n) {
  Loop::run(left, right, out, n);
}

template <typename Loop>
[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl,f16c")]] void avx512(const void* left, const void* right,
                                                                       void* out, Count n) {
  Loop::run(left, right, out, n);
}

// Sums and products of halves, eight at a time: GCC 12 does not do that by itself. That the float's result is
// rounded again does no harm, since a float has more than twice a half's digits.
template <typename Op>
[[gnu::target("avx2,f16c")]] void avx2_half(const void* left, const void* right, void* out, Count n) {
  static_assert(std::is_same_v<Op, Sum> || std::is_same_v<Op, Prod>);
  constexpr Count kTogether = 8;
  const auto* in1 = static_cast<const __m128i*>(left);
  const auto* in2 = static_cast<const __m128i*>(right);
  auto* result = static_cast<__m128i*>(out);
  for (; n >= kTogether; n -= kTogether, ++in1, ++in2, ++result) {
    const __m256 a = _mm256_cvtph_ps(_mm_loadu_si128(in1));
    const __m256 b = _mm256_cvtph_ps(_mm_loadu_si128(in2));
    const __m256 c = std::is_same_v<Op, Sum> ? a + b : a * b;
    _mm_storeu_si128(result, _mm256_cvtps_ph(c, _MM_FROUND_CUR_DIRECTION));
  }
  Each<Half, Op>::run(in1, in2, result, n);
}

#endif

/// The versions of one kernel, by Vectors.
using Versions = std::array<Kernel, 3>;

template <typename Loop>
constexpr Versions versions() {
  Versions all = {plain<Loop>, plain<Loop>, plain<Loop>};
#if defined(__x86_64__)
  if constexpr (Loop::widest() >= Vectors::kAvx2) all[1] = all[2] = avx2<Loop>;
  if constexpr (Loop::widest() >= Vectors::kAvx512) all[2] = avx512<Loop>;
#endif
  return all;
}

template <typename T, typename Op>
constexpr Versions kEach = versions<Each<T, Op>>();
#if defined(__x86_64__)
template <>
inline constexpr Versions kEach<Half, Sum> = {plain<Each<Half, Sum>>, avx2_half<Sum>, avx2_half<Sum>};
template <>
inline constexpr Versions kEach<Half, Prod> = {plain<Each<Half, Prod>>, avx2_half<Prod>, avx2_half<Prod>};
#endif

template <typename Value, typename Index, typename Before>
constexpr Versions kEachLocation = versions<EachLocation<Pair<Value, Index>, Before>>();

}  // namespace clump::datatype::loops
