#include "datatype/fingerprint.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <vector>

#include "datatype/derive.h"

namespace clump::datatype {
namespace {

const Datatype& kByte() { return *predefined(MPI_BYTE); }

TEST(Fingerprints, ChangeWithEachByteOfASmallBuffer) {
  std::vector<std::byte> buffer(1000);
  const Layout all{buffer.data(), 1000, &kByte()};
  const std::uint64_t before = fingerprint(all);
  for (std::byte& byte : buffer) {
    byte = std::byte{1};
    EXPECT_NE(fingerprint(all), before) << &byte - buffer.data();
    byte = std::byte{0};
  }
  EXPECT_EQ(fingerprint(all), before);
  EXPECT_NE(fingerprint({buffer.data(), 999, &kByte()}), before);
}

TEST(Fingerprints, TakeOnlyWhatBelongsToTheLayout) {
  std::vector<std::byte> buffer(1 << 16);
  Made every_second;
  ASSERT_TRUE(make_vector({1 << 15, 1, 2}, kByte(), every_second).ok());
  const Layout some{buffer.data(), 1, every_second.type.get()};
  const std::uint64_t before = fingerprint(some);
  for (std::size_t i = 0; i < buffer.size(); i += 997) {
    buffer[i] = std::byte{1};
    EXPECT_EQ(fingerprint(some) != before, i % 2 == 0) << i;
    buffer[i] = std::byte{0};
  }
}

TEST(Fingerprints, LookAtTheEndsOfALargeBuffer) {
  const Count bytes = 5 * kMostLookedAt + 123;
  std::vector<std::byte> buffer(static_cast<std::size_t>(bytes));
  const Layout all{buffer.data(), bytes, &kByte()};
  const std::uint64_t before = fingerprint(all);
  for (const std::size_t i :
       {std::size_t{0}, std::size_t{1} << 15, buffer.size() - 1, buffer.size() - (1 << 15)}) {
    buffer[i] = std::byte{1};
    EXPECT_NE(fingerprint(all), before) << i;
    buffer[i] = std::byte{0};
  }
}

TEST(FirstDifference, IsAPackedByte) {
  std::vector<std::byte> buffer(60000);
  Made every_third;
  ASSERT_TRUE(make_vector({20000, 1, 3}, kByte(), every_third).ok());
  const Layout layout{buffer.data(), 1, every_third.type.get()};
  std::vector<std::byte> packed(20000);
  EXPECT_EQ(first_difference(layout, packed.data()), -1);
  buffer[3 * 17000 + 1] = std::byte{1};
  EXPECT_EQ(first_difference(layout, packed.data()), -1);
  buffer[3 * 17000] = std::byte{1};
  EXPECT_EQ(first_difference(layout, packed.data()), 17000);
  const Layout dense{buffer.data(), 3, &kByte()};
  packed[2] = std::byte{9};
  EXPECT_EQ(first_difference(dense, packed.data()), 2);
  EXPECT_EQ(first_difference({nullptr, 0, &kByte()}, packed.data()), -1);
}

TEST(Snapshots, LookNoFurtherThanTheMessage) {
  std::vector<std::byte> buffer(1000);
  const Layout all{buffer.data(), 1000, &kByte()};
  const Snapshot before(all);
  buffer[600] = std::byte{1};
  EXPECT_FALSE(before.has_changed(all, 0));
  EXPECT_FALSE(before.has_changed(all, 600));
  EXPECT_TRUE(before.has_changed(all, 601));
  buffer[600] = std::byte{0};
  EXPECT_FALSE(before.has_changed(all, 1000));
}

TEST(Snapshots, EndWhereMemoryDoes) {
  constexpr std::size_t kPage = 4096;
  void* const room = ::mmap(nullptr, 3 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(room, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(room);
  ASSERT_EQ(::mprotect(bytes + kPage, kPage, PROT_NONE), 0);
  ASSERT_EQ(::munmap(bytes + 2 * kPage, kPage), 0);
  Made every_second;
  ASSERT_TRUE(make_vector({1 << 10, 1, 2}, kByte(), every_second).ok());
  for (const Count count : {Count{100}, Count{1} << 31}) {
    for (const Layout& layout : {Layout{bytes + kPage - 4, count, &kByte()},
                                 Layout{bytes + kPage - 8, count, every_second.type.get()}}) {
      const Snapshot before(layout);
      EXPECT_FALSE(before.has_changed(layout, 4));
      auto* const second = static_cast<std::byte*>(layout.base) + 1;  // which every_second leaves out
      *second = std::byte{1};
      EXPECT_EQ(before.has_changed(layout, 4), layout.type == &kByte());
      *second = std::byte{0};
    }
  }
  ::munmap(room, 2 * kPage);
}

}  // namespace
}  // namespace clump::datatype
