#include "coll/schedule/scratch.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace clump::coll {
namespace {

TEST(Scratch, IsAlignedAndWritableAtAnySize) {
  for (const std::size_t bytes : {1UL, 63UL, 16384UL, 16385UL, 100'000UL, 1UL << 24, (1UL << 24) + 1}) {
    const Scratch scratch = take_scratch(bytes);
    ASSERT_NE(scratch, nullptr) << bytes;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(scratch.get()) % kScratchAlignment, 0u) << bytes;
    std::memset(scratch.get(), 1, bytes);
  }
}

#ifndef __SANITIZE_ADDRESS__
TEST(Scratch, WhatIsLargeIsUsedAgain) {
  std::byte* const first = take_scratch(100'000).get();
  EXPECT_EQ(take_scratch(90'000).get(), first) << "the next one of about that size";
}
#endif

TEST(Scratch, NoTwoHaveTheSame) {
  const auto work = [](unsigned char mark) {
    for (int i = 0; i < 2000; ++i) {
      const std::size_t bytes = 20'000 + static_cast<std::size_t>(i) % 5 * 30'000;
      const Scratch scratch = take_scratch(bytes);
      std::memset(scratch.get(), mark, bytes);
      std::this_thread::yield();
      for (std::size_t at = 0; at < bytes; at += 997)
        ASSERT_EQ(static_cast<unsigned char>(scratch[at]), mark);
    }
  };
  std::vector<std::jthread> threads;
  for (unsigned char mark = 1; mark <= 4; ++mark) threads.emplace_back(work, mark);
}

}  // namespace
}  // namespace clump::coll
