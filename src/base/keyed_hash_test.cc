#include "base/keyed_hash.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

namespace clump::base {
namespace {

// The ninth of the test vectors of the reference implementation: key 00 01 ... 0f, message 00 01 ... 07.
static_assert(keyed_hash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, 0x0706050403020100) == 0x93f5f5799a932462);

// And the 17th, of 16 bytes.
constexpr std::array<std::uint64_t, 2> kTwoWords{0x0706050403020100, 0x0f0e0d0c0b0a0908};
static_assert(keyed_hash({0x0706050403020100, 0x0f0e0d0c0b0a0908}, kTwoWords) == 0x3f2acc7f57c29bdb);

TEST(KeyedHash, EachPartOfTheKeyCounts) {
  EXPECT_NE(keyed_hash({1, 2}, 3), keyed_hash({2, 2}, 3));
  EXPECT_NE(keyed_hash({1, 2}, 3), keyed_hash({1, 3}, 3));
  EXPECT_NE(keyed_hash({1, 2}, 3), keyed_hash({1, 2}, 4));
}

}  // namespace
}  // namespace clump::base
