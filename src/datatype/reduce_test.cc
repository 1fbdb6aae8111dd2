#include "datatype/reduce.h"
#include "datatype/scalars.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

namespace clump::datatype {
namespace {

constexpr Count kElements = 67;  // not a multiple of any vector length

template <typename T>
using Values = std::array<T, kElements>;

template <typename T>
Values<T> random_values(unsigned seed) {
  std::mt19937_64 random(seed);
  Values<T> values;
  for (T& value : values) {
    if constexpr (std::is_floating_point_v<T>) {
      value = static_cast<T>(static_cast<int>(random() % 2001) - 1000) / 8;
    } else {
      value = random() % 3 == 0 ? T{} : static_cast<T>(random());
    }
  }
  return values;
}

template <typename T>
void expect_same(MPI_Datatype type, PredefinedOp op, const std::function<T(T, T)>& reference) {
  const Kernel found = kernel(op, *predefined(type), Vectors::kPlain);
  ASSERT_NE(found, nullptr) << name_of(op) << " on " << predefined(type)->name();
  ASSERT_EQ(predefined(type)->extent(), static_cast<Count>(sizeof(T)));
  const Values<T> in = random_values<T>(1), before = random_values<T>(2);
  Values<T> inout = before;
  found(in.data(), inout.data(), inout.data(), kElements);
  Values<T> elsewhere;
  found(in.data(), before.data(), elsewhere.data(), kElements);
  for (std::size_t i = 0; i < inout.size(); ++i) {
    EXPECT_TRUE(inout[i] == reference(in[i], before[i]) && elsewhere[i] == inout[i])
        << name_of(op) << " on " << predefined(type)->name() << ", element " << i;
  }
}

template <typename T>
void expect_order_and_arithmetic(MPI_Datatype type) {
  using Wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  const auto wide = [](T value) { return static_cast<Wide>(value); };
  expect_same<T>(type, PredefinedOp::kSum, [&](T a, T b) { return static_cast<T>(wide(a) + wide(b)); });
  expect_same<T>(type, PredefinedOp::kProd, [&](T a, T b) { return static_cast<T>(wide(a) * wide(b)); });
  expect_same<T>(type, PredefinedOp::kMin, [](T a, T b) { return std::min(a, b); });
  expect_same<T>(type, PredefinedOp::kMax, [](T a, T b) { return std::max(a, b); });
}

template <typename T>
void expect_bits(MPI_Datatype type) {
  expect_same<T>(type, PredefinedOp::kBand, [](T a, T b) { return static_cast<T>(a & b); });
  expect_same<T>(type, PredefinedOp::kBor, [](T a, T b) { return static_cast<T>(a | b); });
  expect_same<T>(type, PredefinedOp::kBxor, [](T a, T b) { return static_cast<T>(a ^ b); });
}

template <typename T>
void expect_logic(MPI_Datatype type) {
  expect_same<T>(type, PredefinedOp::kLand, [](T a, T b) { return static_cast<T>(a != 0 && b != 0); });
  expect_same<T>(type, PredefinedOp::kLor, [](T a, T b) { return static_cast<T>(a != 0 || b != 0); });
  expect_same<T>(type, PredefinedOp::kLxor, [](T a, T b) { return static_cast<T>((a != 0) != (b != 0)); });
}

template <typename T>
void expect_c_integer(std::initializer_list<MPI_Datatype> types) {
  for (const MPI_Datatype type : types) {
    expect_order_and_arithmetic<T>(type);
    expect_bits<T>(type);
    expect_logic<T>(type);
    EXPECT_EQ(kernel(PredefinedOp::kMinloc, *predefined(type)), nullptr);
  }
}

TEST(Reduce, ValuesAreTheAbis) {
  const std::pair<MPI_Op, PredefinedOp> ops[] = {
      {MPI_SUM, PredefinedOp::kSum},         {MPI_MIN, PredefinedOp::kMin},
      {MPI_MAX, PredefinedOp::kMax},         {MPI_PROD, PredefinedOp::kProd},
      {MPI_BAND, PredefinedOp::kBand},       {MPI_BOR, PredefinedOp::kBor},
      {MPI_BXOR, PredefinedOp::kBxor},       {MPI_LAND, PredefinedOp::kLand},
      {MPI_LOR, PredefinedOp::kLor},         {MPI_LXOR, PredefinedOp::kLxor},
      {MPI_MINLOC, PredefinedOp::kMinloc},   {MPI_MAXLOC, PredefinedOp::kMaxloc},
      {MPI_REPLACE, PredefinedOp::kReplace}, {MPI_NO_OP, PredefinedOp::kNoOp}};
  for (const auto& [handle, op] : ops)
    EXPECT_EQ(reinterpret_cast<std::intptr_t>(handle), static_cast<std::intptr_t>(op));
}

TEST(Reduce, CIntegers) {
  expect_c_integer<signed char>({MPI_SIGNED_CHAR, MPI_INT8_T});
  expect_c_integer<unsigned char>({MPI_UNSIGNED_CHAR, MPI_UINT8_T});
  expect_c_integer<short>({MPI_SHORT, MPI_INT16_T});
  expect_c_integer<unsigned short>({MPI_UNSIGNED_SHORT, MPI_UINT16_T});
  expect_c_integer<int>({MPI_INT, MPI_INT32_T});
  expect_c_integer<unsigned>({MPI_UNSIGNED, MPI_UINT32_T});
  expect_c_integer<long>({MPI_LONG, MPI_LONG_LONG, MPI_INT64_T});
  expect_c_integer<unsigned long>({MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT64_T});
}

TEST(Reduce, FortranIntegersAndAddresses) {
  for (const MPI_Datatype type : {MPI_INTEGER, MPI_INTEGER4}) {
    expect_order_and_arithmetic<int>(type);
    expect_bits<int>(type);
    EXPECT_EQ(kernel(PredefinedOp::kLand, *predefined(type)), nullptr);
  }
  expect_order_and_arithmetic<std::int8_t>(MPI_INTEGER1);
  expect_order_and_arithmetic<std::int16_t>(MPI_INTEGER2);
  expect_order_and_arithmetic<std::int64_t>(MPI_INTEGER8);
  EXPECT_EQ(kernel(PredefinedOp::kLor, *predefined(MPI_INTEGER8)), nullptr);
  for (const MPI_Datatype type : {MPI_AINT, MPI_COUNT, MPI_OFFSET}) {
    expect_order_and_arithmetic<std::int64_t>(type);
    expect_bits<std::int64_t>(type);
    EXPECT_TRUE(is_standard(PredefinedOp::kBor, *predefined(type)));
  }
  const Kernel sum = kernel(PredefinedOp::kSum, *predefined(MPI_INTEGER16));
  const __int128 in = static_cast<__int128>(1) << 100;
  __int128 inout = 5;
  sum(&in, &inout, &inout, 1);
  EXPECT_TRUE(inout == in + 5);
}

TEST(Reduce, FloatingPoint) {
  for (const MPI_Datatype type : {MPI_FLOAT, MPI_REAL, MPI_REAL4}) expect_order_and_arithmetic<float>(type);
  for (const MPI_Datatype type : {MPI_DOUBLE, MPI_DOUBLE_PRECISION, MPI_REAL8})
    expect_order_and_arithmetic<double>(type);
  expect_order_and_arithmetic<long double>(MPI_LONG_DOUBLE);
  for (const PredefinedOp op : {PredefinedOp::kBand, PredefinedOp::kLand, PredefinedOp::kMaxloc}) {
    EXPECT_EQ(kernel(op, *predefined(MPI_DOUBLE)), nullptr);
  }
#ifdef CLUMP_HAS_QUAD
  const Quad in[] = {3, -2};
  Quad inout[] = {5, 4};
  kernel(PredefinedOp::kProd, *predefined(MPI_REAL16))(in, inout, inout, 2);
  EXPECT_TRUE(inout[0] == 15 && inout[1] == -8);
#endif
  const Half half[] = {Half(1.5), Half(-2)};
  Half result[] = {2, 4};
  kernel(PredefinedOp::kMax, *predefined(MPI_REAL2))(half, result, result, 2);
  EXPECT_TRUE(result[0] == 2 && result[1] == 4);
}

// Each half with sixteen others: all pairs would take too long.
TEST(Reduce, HalfPrecisionBitForBit) {
  const auto half = [](std::uint32_t bits) { return std::bit_cast<Half>(static_cast<std::uint16_t>(bits)); };
  const auto same = [](Half a, Half b) {
    return (a != a && b != b) || std::bit_cast<std::uint16_t>(a) == std::bit_cast<std::uint16_t>(b);
  };
  std::vector<Half> left, right;
  for (std::uint32_t i = 0; i < 0x100000; ++i) {
    left.push_back(half(i));
    right.push_back(half(i * (1 + 4094 * (i >> 16))));  // by an odd number: every one of them comes up
  }
  const auto expect = [&](PredefinedOp op, const auto& reference) {
    for (const Vectors vectors : {Vectors::kPlain, widest_vectors()}) {
      std::vector<Half> result = right;
      kernel(op, *predefined(MPI_REAL2), vectors)(left.data(), result.data(), result.data(), 0x100000);
      for (std::size_t i = 0; i < left.size(); ++i) {
        ASSERT_TRUE(same(result[i], reference(left[i], right[i])))
            << name_of(op) << " of " << static_cast<float>(left[i]) << " and "
            << static_cast<float>(right[i]);
      }
    }
  };
  expect(PredefinedOp::kMin, [](Half a, Half b) { return a < b ? a : b; });
  expect(PredefinedOp::kMax, [](Half a, Half b) { return a > b ? a : b; });
  expect(PredefinedOp::kSum, [](Half a, Half b) { return static_cast<Half>(a + b); });
  expect(PredefinedOp::kProd, [](Half a, Half b) { return static_cast<Half>(a * b); });
}

std::uint16_t bits_of(SoftHalf half) { return std::bit_cast<std::uint16_t>(half); }

TEST(Reduce, HalfPrecisionInSoftware) {
  EXPECT_EQ(bits_of(SoftHalf(1.0f)), 0x3c00);
  EXPECT_EQ(bits_of(SoftHalf(-2.0f)), 0xc000);
  EXPECT_EQ(bits_of(SoftHalf(65504.0f)), 0x7bff);
  EXPECT_EQ(bits_of(SoftHalf(65519.0f)), 0x7bff);
  EXPECT_EQ(bits_of(SoftHalf(65520.0f)), 0x7c00);
  EXPECT_EQ(bits_of(SoftHalf(0x1p-24f)), 0x0001);
  EXPECT_EQ(bits_of(SoftHalf(0x1p-25f)), 0x0000);
  EXPECT_EQ(bits_of(SoftHalf(0x1.8p-24f)), 0x0002);
  EXPECT_EQ(bits_of(SoftHalf(0x1p-14f)), 0x0400);
  EXPECT_EQ(bits_of(SoftHalf(1.0f + 0x1p-11f)), 0x3c00);  // ties to even
  EXPECT_EQ(bits_of(SoftHalf(1.0f + 0x3p-11f)), 0x3c02);
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
    const auto half = std::bit_cast<SoftHalf>(static_cast<std::uint16_t>(bits));
    const float value = half;
    if (value != value) continue;
    ASSERT_EQ(bits_of(SoftHalf(value)), bits);
    // Halfway to the next one, and a little beyond.
    if ((bits & 0x7fff) >= 0x7bff) continue;
    const float next = std::bit_cast<SoftHalf>(static_cast<std::uint16_t>(bits + 1));
    const float middle = (value + next) / 2;
    ASSERT_EQ(bits_of(SoftHalf(middle)), bits + (bits & 1));
    ASSERT_EQ(bits_of(SoftHalf(std::nextafter(middle, next))), bits + 1);
    ASSERT_EQ(bits_of(SoftHalf(std::nextafter(middle, value))), bits);
  }
  EXPECT_TRUE(std::isnan(static_cast<float>(SoftHalf(std::numeric_limits<float>::quiet_NaN()))));
}

template <typename T>
void expect_complex(std::initializer_list<MPI_Datatype> types) {
  for (const MPI_Datatype type : types) {
    const std::complex<T> in[] = {{1, 2}, {-3, 4}}, before[] = {{5, -6}, {7, 8}};
    std::complex<T> sum[] = {before[0], before[1]}, product[] = {before[0], before[1]};
    kernel(PredefinedOp::kSum, *predefined(type))(in, sum, sum, 2);
    kernel(PredefinedOp::kProd, *predefined(type))(in, product, product, 2);
    for (int i : {0, 1}) {
      EXPECT_EQ(sum[i], in[i] + before[i]);
      EXPECT_EQ(product[i], in[i] * before[i]);
    }
    EXPECT_EQ(kernel(PredefinedOp::kMax, *predefined(type)), nullptr);
  }
}

TEST(Reduce, ComplexNumbers) {
  expect_complex<float>({MPI_C_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX, MPI_COMPLEX8});
  expect_complex<double>({MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX16});
  expect_complex<long double>({MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX});
}

TEST(Reduce, LogicalAndByte) {
  expect_logic<std::uint8_t>(MPI_C_BOOL);
  expect_logic<std::uint8_t>(MPI_CXX_BOOL);
  expect_logic<std::uint8_t>(MPI_LOGICAL1);
  expect_logic<std::uint16_t>(MPI_LOGICAL2);
  expect_logic<std::uint32_t>(MPI_LOGICAL);
  expect_logic<std::uint32_t>(MPI_LOGICAL4);
  expect_logic<std::uint64_t>(MPI_LOGICAL8);
  expect_bits<std::uint8_t>(MPI_BYTE);
  EXPECT_EQ(kernel(PredefinedOp::kSum, *predefined(MPI_LOGICAL)), nullptr);
  EXPECT_EQ(kernel(PredefinedOp::kSum, *predefined(MPI_BYTE)), nullptr);
}

template <typename Value, typename Index>
void expect_locations(MPI_Datatype type) {
  struct Pair {
    Value value;
    Index index;
  };
  ASSERT_EQ(predefined(type)->extent(), static_cast<Count>(sizeof(Pair)));
  const Pair in[] = {{1, 7}, {2, 7}, {3, 7}, {2, 1}};
  const Pair other[] = {{2, 4}, {2, 4}, {2, 4}, {2, 4}};
  Pair least[] = {{2, 4}, {2, 4}, {2, 4}, {2, 4}}, most[4];
  kernel(PredefinedOp::kMinloc, *predefined(type))(in, least, least, 4);
  kernel(PredefinedOp::kMaxloc, *predefined(type))(in, other, most, 4);
  const Value minima[] = {1, 2, 2, 2}, maxima[] = {2, 2, 3, 2};
  const Index minimum_at[] = {7, 4, 4, 1}, maximum_at[] = {4, 4, 7, 1};
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(least[i].value, minima[i]);
    EXPECT_EQ(least[i].index, minimum_at[i]);
    EXPECT_EQ(most[i].value, maxima[i]);
    EXPECT_EQ(most[i].index, maximum_at[i]);
  }
  EXPECT_EQ(kernel(PredefinedOp::kSum, *predefined(type)), nullptr);
}

// A buffer of a pair type ends with the last index: the padding that follows in a C struct may be another's.
template <typename Value, typename Index>
void expect_padding_is_left_alone(MPI_Datatype type) {
  struct Pair {
    Value value;
    Index index;
  };
  constexpr std::size_t used = offsetof(Pair, index) + sizeof(Index);
  ASSERT_EQ(predefined(type)->true_extent(), static_cast<Count>(used));
  const std::unique_ptr<std::byte[]> in(new std::byte[used]), exact(new std::byte[used]);
  alignas(Pair) std::array<std::byte, sizeof(Pair)> inout;
  inout.fill(std::byte{0x5a});
  const Value less = 1, more = 2;
  const Index index = 3;
  std::memcpy(in.get(), &less, sizeof less);
  std::memcpy(in.get() + offsetof(Pair, index), &index, sizeof index);
  std::memcpy(inout.data(), &more, sizeof more);
  const Kernel minloc = kernel(PredefinedOp::kMinloc, *predefined(type));
  minloc(in.get(), inout.data(), inout.data(), 1);
  for (std::size_t i = used; i < sizeof(Pair); ++i) EXPECT_EQ(inout[i], std::byte{0x5a}) << "byte " << i;
  std::memcpy(exact.get(), inout.data(), used);
  minloc(in.get(), exact.get(), exact.get(), 1);  // under AddressSanitizer: nothing behind it is touched
  EXPECT_EQ(std::memcmp(exact.get() + offsetof(Pair, index), &index, sizeof index), 0);
}

TEST(Reduce, PaddingBehindALocation) {
  expect_padding_is_left_alone<double, int>(MPI_DOUBLE_INT);
  expect_padding_is_left_alone<long, int>(MPI_LONG_INT);
  expect_padding_is_left_alone<long double, int>(MPI_LONG_DOUBLE_INT);
  expect_padding_is_left_alone<short, int>(MPI_SHORT_INT);
}

TEST(Reduce, Locations) {
  expect_locations<float, int>(MPI_FLOAT_INT);
  expect_locations<double, int>(MPI_DOUBLE_INT);
  expect_locations<long double, int>(MPI_LONG_DOUBLE_INT);
  expect_locations<short, int>(MPI_SHORT_INT);
  expect_locations<long, int>(MPI_LONG_INT);
  expect_locations<int, int>(MPI_2INT);
  expect_locations<int, int>(MPI_2INTEGER);
  expect_locations<float, float>(MPI_2REAL);
  expect_locations<double, double>(MPI_2DOUBLE_PRECISION);
}

TEST(Reduce, ReplaceAndNoOpOnEveryType) {
  for (std::uintptr_t value = 0x200; value < 0x300; ++value) {
    const Datatype* type = predefined(reinterpret_cast<MPI_Datatype>(value));
    if (type == nullptr) continue;
    const std::size_t bytes = 3 * static_cast<std::size_t>(type->extent());
    alignas(16) std::byte in[96], inout[96];
    std::memset(in, 1, sizeof in);
    std::memset(inout, 2, sizeof inout);
    kernel(PredefinedOp::kNoOp, *type)(in, inout, inout, 3);
    EXPECT_EQ(inout[0], std::byte{2});
    alignas(16) std::byte out[96] = {};
    kernel(PredefinedOp::kNoOp, *type)(in, inout, out, 3);
    EXPECT_EQ(std::memcmp(out, inout, bytes), 0) << type->name();
    kernel(PredefinedOp::kReplace, *type)(in, inout, inout, 3);
    EXPECT_EQ(std::memcmp(in, inout, bytes), 0) << type->name();
    if (bytes < sizeof inout) {
      EXPECT_EQ(inout[bytes], std::byte{2}) << type->name();
    }
  }
}

TEST(Reduce, BesidesTheStandard) {
  expect_c_integer<char>({MPI_CHAR});
  expect_c_integer<std::int64_t>({MPI_AINT, MPI_COUNT, MPI_OFFSET});
  EXPECT_FALSE(is_standard(PredefinedOp::kMax, *predefined(MPI_CHAR)));
  EXPECT_FALSE(is_standard(PredefinedOp::kLand, *predefined(MPI_AINT)));
  EXPECT_TRUE(is_standard(PredefinedOp::kMax, *predefined(MPI_SIGNED_CHAR)));
  EXPECT_TRUE(is_standard(PredefinedOp::kLand, *predefined(MPI_INT)));
}

TEST(Reduce, OtherCharactersAreNotNumbers) {
  for (const MPI_Datatype type : {MPI_CHARACTER, MPI_WCHAR, MPI_PACKED}) {
    for (const PredefinedOp op :
         {PredefinedOp::kSum, PredefinedOp::kBand, PredefinedOp::kLand, PredefinedOp::kMaxloc}) {
      EXPECT_EQ(kernel(op, *predefined(type)), nullptr);
    }
  }
}

}  // namespace
}  // namespace clump::datatype
