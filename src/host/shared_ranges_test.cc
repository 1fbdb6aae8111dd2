#include "host/shared_ranges.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>

namespace clump::host {
namespace {

std::uint64_t address_of(const void* memory) { return reinterpret_cast<std::uintptr_t>(memory); }

/// A file like /proc/self/maps.
class File {
 public:
  File() : path_(::testing::TempDir() + "shared_ranges_test." + std::to_string(::getpid())) {}
  ~File() { std::remove(path_.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  void write(const char* lines) const { std::ofstream(path_) << lines; }
  const char* path() const { return path_.c_str(); }

 private:
  std::string path_;
};

TEST(SharedRanges, TellsSharedFromPrivateMemory) {
  constexpr std::size_t kPage = 4096;
  const auto map = [](int kind) {
    return static_cast<char*>(::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS, -1, 0));
  };
  char* const shared = map(MAP_SHARED);
  char* const own = map(MAP_PRIVATE);
  static int variable;
  SharedRanges ranges;
  EXPECT_TRUE(ranges.has(address_of(shared)));
  EXPECT_TRUE(ranges.has(address_of(shared + kPage - 1)));
  EXPECT_FALSE(ranges.has(address_of(own)));
  EXPECT_FALSE(ranges.has(address_of(own + kPage - 1)));
  EXPECT_FALSE(ranges.has(address_of(&variable)));
  EXPECT_FALSE(ranges.has(address_of(&ranges)));
  EXPECT_TRUE(ranges.has(0)) << "there is none";
  ::munmap(shared, kPage);
  ::munmap(own, kPage);
}

TEST(SharedRanges, KnowsWhereRangesEnd) {
  const File file;
  file.write(
      "1000-2000 rw-p 00000000 00:00 0 \n"
      "2000-3000 r--p 00000000 00:00 0 \n"
      "3000-4000 rw-s 00000000 00:01 9 /dev/zero (deleted)\n"
      "6000-7000 rw-p 00000000 00:00 0 [heap]\n");
  SharedRanges ranges(file.path());
  for (const std::uint64_t address : {0x1000u, 0x1fffu, 0x2000u, 0x2fffu, 0x6000u, 0x6fffu})
    EXPECT_FALSE(ranges.has(address)) << address;
  for (const std::uint64_t address : {0xfffu, 0x3000u, 0x3fffu, 0x4000u, 0x5fffu, 0x7000u})
    EXPECT_TRUE(ranges.has(address)) << address;
}

TEST(SharedRanges, ReadsOnceWhenAskedFirst) {
  const File file;
  file.write("1000-2000 rw-s 00000000 00:00 0 \n");
  SharedRanges ranges(file.path());
  file.write("1000-2000 rw-p 00000000 00:00 0 \n");
  EXPECT_FALSE(ranges.has(0x1000));
  file.write("1000-2000 rw-s 00000000 00:00 0 \n");
  EXPECT_FALSE(ranges.has(0x1000));
}

TEST(SharedRanges, SaysSharedWhereItCannotRead) {
  SharedRanges ranges("/nonexistent");
  EXPECT_TRUE(ranges.has(address_of(&ranges)));
}

}  // namespace
}  // namespace clump::host
