#include "process/mapped.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>

#include "process/mapped_heap.h"

namespace clump::image {
namespace {

TEST(CallArray, HasRoomForFewAndForMany) {
  for (const std::size_t count : {0, 1, 64, 65, 100'000}) {
    CallArray<std::uint64_t> array(count);
    ASSERT_NE(array.data(), nullptr);
    for (std::size_t i = 0; i < count; ++i) array.data()[i] = i;
    if (count > 0) {
      EXPECT_EQ(array.data()[count - 1], count - 1);
    }
  }
}

TEST(MappedText, GrowsAndKeepsWhatItHas) {
  MappedText text;
  std::string expected;
  for (int i = 0; i < 50'000; ++i) {
    const std::string more = std::to_string(i);
    ASSERT_TRUE(text.append(more));
    expected += more;
  }
  EXPECT_EQ(text.text(), expected);
  text.clear();
  EXPECT_TRUE(text.empty());
  ASSERT_TRUE(text.append("again"));
  EXPECT_EQ(text.text(), "again");
}

struct TestTables;

TEST(MappedHeap, BlocksDoNotOverlapAndAreUsedAgain) {
  constexpr std::size_t kSizes[] = {1, 64, 65, 1000, 32'768, 32'769, 100'000};
  std::set<void*> before;
  for (const std::size_t bytes : kSizes) {
    void* const one = MappedHeap<TestTables>::take(bytes);
    void* const other = MappedHeap<TestTables>::take(bytes);
    std::memset(one, 1, bytes);
    std::memset(other, 2, bytes);
    EXPECT_EQ(static_cast<char*>(one)[bytes - 1], 1);
    MappedHeap<TestTables>::give(other, bytes);
    if (bytes <= 32'768) {
      EXPECT_EQ(MappedHeap<TestTables>::take(bytes), other);
    }
    EXPECT_TRUE(before.insert(one).second);
  }
}

}  // namespace
}  // namespace clump::image
