// Floating-point types that compilers have under different names, or not at all.
#pragma once

#include <bit>
#include <cstdint>

namespace clump::datatype {

/// IEEE 754 binary16, for compilers that have none: a float wherever it is reckoned with, and rounded to the
/// nearest (ties to even) where it is stored.
class SoftHalf {
 public:
  SoftHalf() = default;
  SoftHalf(float value) : bits_(rounded(std::bit_cast<std::uint32_t>(value))) {}  // NOLINT: as from float
  operator float() const {                                                        // NOLINT: as to float
    const std::uint32_t sign = (bits_ & 0x8000u) << 16, exponent = bits_ >> 10 & 31, fraction = bits_ & 1023;
    if (exponent == 0) {  // zero, or in steps of 2^-24
      const auto value = static_cast<float>(fraction) * 0x1p-24f;
      return sign == 0 ? value : -value;
    }
    const std::uint32_t widened = exponent == 31 ? 255 : exponent + (127 - 15);
    return std::bit_cast<float>(sign | widened << 23 | fraction << 13);
  }

 private:
  static constexpr std::uint32_t kInfinity = 255u << 23, kLeastNormal = (127u - 14) << 23;
  static constexpr std::uint32_t kTooLarge = 0x477ff000;  // 65520, half a step above the largest

  static std::uint16_t rounded(std::uint32_t value) {
    const std::uint32_t sign = value >> 16 & 0x8000, size = value & 0x7fffffff;
    std::uint32_t half = 0;
    if (size > kInfinity) {
      half = 0x7e00 | (size >> 13 & 1023);  // not a number, and quiet
    } else if (size >= kTooLarge) {
      half = 0x7c00;
    } else if (size < kLeastNormal) {  // one half is stored in steps of 2^-24, too: the sum is rounded for us
      half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + 0.5f) -
             std::bit_cast<std::uint32_t>(0.5f);
    } else {
      half = (size - ((127u - 15) << 23) + 0xfff + (size >> 13 & 1)) >> 13;
    }
    return static_cast<std::uint16_t>(sign | half);
  }

  std::uint16_t bits_;
};

// GCC before 13 knows _Float16 in C++ on x86 only, though it tells its limits everywhere.
#if defined(__FLT16_MAX__) && (defined(__x86_64__) || defined(__clang__) || __GNUC__ >= 13)
using Half = _Float16;
#else
using Half = SoftHalf;
#endif

// IEEE 754 binary128.
#if __LDBL_MANT_DIG__ == 113
#define CLUMP_HAS_QUAD 1
using Quad = long double;
#elif defined(__SIZEOF_FLOAT128__)
#define CLUMP_HAS_QUAD 1
using Quad = __float128;
#endif

}  // namespace clump::datatype
