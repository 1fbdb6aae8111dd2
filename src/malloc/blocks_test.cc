// The first blocks of a rank, the large ones that it keeps, and those of zeros, without the functions of the
// C library around them.
#include <gtest/gtest.h>
#include <mimalloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "malloc/kept.h"
#include "malloc/young.h"
#include "malloc/zeros.h"

namespace clump {
namespace {

constexpr std::size_t kRanks = 3;
constexpr std::size_t kMiB = std::size_t{1} << 20;

/// Runs `body` as the main thread of a rank.
template <typename Body>
void as_rank(std::size_t rank, Body body) {
  static const bool prepared = [] {
    clump_malloc_prepare(kRanks);
    return true;
  }();
  ASSERT_TRUE(prepared);
  std::thread([&] {
    clump_malloc_begin(rank);
    body();
  }).join();
}

std::uintptr_t address(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

TEST(YoungBlocks, LieSideBySide) {
  as_rank(0, [] {
    const std::size_t chunk = young::mine.left;
    ASSERT_GT(chunk, std::size_t{64} << 10);
    char* last = nullptr;
    for (const std::size_t wanted : {1, 15, 16, 17, 100, 4096}) {
      char* const block = static_cast<char*>(young::take(wanted));
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(address(block) % young::kUnit, 0u);
      EXPECT_TRUE(young::holds(block));
      EXPECT_GE(young::size_of(block), wanted);
      EXPECT_LT(young::size_of(block), wanted + young::kUnit);
      EXPECT_TRUE(last == nullptr || block == last + young::size_of(last) + young::kUnit)
          << "only the size is between";
      for (std::size_t i = 0; i < wanted; ++i) ASSERT_EQ(block[i], 0);
      for (std::size_t i = 0; i < young::size_of(block); ++i) block[i] = 'x';
      last = block;
    }
  });
}

TEST(YoungBlocks, AreAligned) {
  as_rank(1, [] {
    for (const std::size_t alignment : {16, 64, 4096, 16, 32}) {
      void* const block = young::take(10, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(address(block) % alignment, 0u);
      EXPECT_EQ(young::size_of(block), 16u);
    }
    EXPECT_EQ(young::take(10, std::size_t{1} << 40), nullptr) << "beyond the chunk";
    EXPECT_NE(young::take(10), nullptr) << "and there is still room";
  });
}

TEST(YoungBlocks, FillTheirChunkAndNoMore) {
  as_rank(2, [] {
    const std::uintptr_t end = address(young::mine.next) + young::mine.left;
    EXPECT_EQ(young::take(young::mine.left), nullptr);
    EXPECT_EQ(young::take(SIZE_MAX), nullptr);
    EXPECT_EQ(young::take(SIZE_MAX - 8), nullptr);
    std::size_t blocks = 0;
    void* last = nullptr;
    for (void* block = young::take(0); block != nullptr; block = young::take(0), ++blocks) {
      EXPECT_EQ(young::size_of(block), young::kUnit) << "also one without bytes has an address of its own";
      EXPECT_LE(address(block) + young::size_of(block), end);
      last = block;
    }
    EXPECT_TRUE(young::holds(last));
    EXPECT_GT(blocks, 1000u);
  });
}

TEST(YoungBlocks, AreForRanksThatWerePreparedFor) {
  as_rank(kRanks, [] {
    EXPECT_EQ(young::mine.left, 0u);
    EXPECT_EQ(young::take(0), nullptr);
  });
  std::thread([] { EXPECT_EQ(young::take(1), nullptr) << "no main thread of a rank"; }).join();
  EXPECT_FALSE(young::holds(nullptr));
  int outside = 0;
  EXPECT_FALSE(young::holds(&outside));
}

TEST(KeptBlocks, AreOfSomeSizes) {
  EXPECT_FALSE(kept::fits(16 * kMiB));
  EXPECT_TRUE(kept::fits(16 * kMiB + 1));
  EXPECT_TRUE(kept::fits(32 * kMiB));
  EXPECT_FALSE(kept::fits(32 * kMiB + 1));
}

TEST(KeptBlocks, AreTwoAndComeBack) {
  as_rank(0, [] {
    void* const one = kept::take();
    void* const two = kept::take();
    void* const three = kept::take();
    ASSERT_TRUE(one != nullptr && two != nullptr && three != nullptr);
    EXPECT_GE(mi_usable_size(one), 32 * kMiB);
    EXPECT_TRUE(kept::may_be_one(one));
    EXPECT_FALSE(kept::may_be_one(nullptr));
    EXPECT_FALSE(kept::may_be_one(static_cast<char*>(one) + 64));
    EXPECT_TRUE(kept::keep(one));
    EXPECT_TRUE(kept::keep(two));
    EXPECT_FALSE(kept::keep(three)) << "two are enough";
    void* const first = kept::take();
    void* const second = kept::take();
    EXPECT_TRUE((first == one && second == two) || (first == two && second == one));
    for (void* const block : {one, two, three}) mi_free(block);
  });
}

TEST(KeptBlocks, GoBackWithTheRank) {
  as_rank(2, [] {
    EXPECT_TRUE(kept::keep(kept::take()));
    void* const lives = mi_malloc(100);
    clump_malloc_end();
    EXPECT_EQ(kept::mine.all[0], nullptr);
    EXPECT_EQ(kept::mine.all[1], nullptr);
    void* const late = kept::take();  // what runs after the end of the rank may allocate still
    ASSERT_NE(late, nullptr);
    EXPECT_FALSE(kept::keep(late));
    mi_free(late);
    mi_free(lives);
  });
}

TEST(KeptBlocks, AreNoOthers) {
  as_rank(1, [] {
    for (const std::size_t bytes : {1 * kMiB, 20 * kMiB, 48 * kMiB}) {
      void* const block = mi_malloc(bytes);
      EXPECT_FALSE(kept::keep(block)) << bytes;
      mi_free(block);
    }
  });
  std::thread([] {
    void* const block = kept::take();
    EXPECT_FALSE(kept::keep(block)) << "no main thread of a rank";
    mi_free(block);
  }).join();
}

TEST(Zeros, TakeBackNoPageThatIsThereAndMakeNone) {
  const auto page = static_cast<std::size_t>(getpagesize());
  constexpr std::size_t kPages = 3000;
  const std::vector<std::size_t> used = {0, 1, 2, 1000, 1023, 1024, 2500, kPages - 1};
  auto* const room = static_cast<char*>(
      mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(room, MAP_FAILED);
  madvise(room, kPages * page, MADV_NOHUGEPAGE);
  for (const std::size_t one : used) std::memset(room + one * page, 'x', page);
  zeros::fill(room + 5, kPages * page - 10);
  std::vector<unsigned char> present(kPages);
  ASSERT_EQ(mincore(room, kPages * page, present.data()), 0);
  for (std::size_t one = 0; one < kPages; ++one)
    EXPECT_EQ(present[one] & 1, std::ranges::find(used, one) != used.end()) << one;
  for (std::size_t i = 0; i < kPages * page; ++i)
    ASSERT_EQ(room[i], i < 5 || i >= kPages * page - 5 ? 'x' : 0) << i;
  munmap(room, kPages * page);
}

}  // namespace
}  // namespace clump
