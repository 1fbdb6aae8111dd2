#include "host/mappings.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <optional>

namespace clump::host {
namespace {

constexpr std::size_t kMapped = 1 << 16;

/// A mapping of a file in memory, or of no file.
class Mapped {
 public:
  explicit Mapped(const char* file, int access = PROT_READ | PROT_WRITE) {
    const int descriptor = file != nullptr ? ::memfd_create(file, 0) : -1;
    EXPECT_TRUE(descriptor < 0 || ::ftruncate(descriptor, kMapped) == 0);
    memory_ =
        ::mmap(nullptr, kMapped, access, MAP_SHARED | (descriptor < 0 ? MAP_ANONYMOUS : 0), descriptor, 0);
    if (descriptor >= 0) ::close(descriptor);
  }
  ~Mapped() { ::munmap(memory_, kMapped); }
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(memory_); }

 private:
  void* memory_;
};

/// The mapping that holds an address.
std::optional<Mapping> mapping_of(std::uintptr_t address) {
  Mappings all;
  for (Mapping one; all.next(one);)
    if (address >= one.begin && address < one.end) return one;
  return std::nullopt;
}

TEST(Mappings, AreInTheOrderOfTheirAddresses) {
  Mappings all;
  std::uintptr_t end = 0;
  int count = 0;
  for (Mapping one; all.next(one); end = one.end, ++count) {
    ASSERT_GE(one.begin, end);
    ASSERT_GT(one.end, one.begin);
    ASSERT_EQ(one.begin % 4096 + one.end % 4096, 0u);
  }
  EXPECT_GT(count, 5);
}

TEST(Mappings, TellWhatCanBeTouched) {
  const Mapped open(nullptr), closed("clump test of closed", PROT_NONE);
  const auto found = mapping_of(open.begin());
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->accessible);
  EXPECT_LE(found->begin, open.begin());
  EXPECT_GE(found->end, open.begin() + kMapped);
  const auto none = mapping_of(closed.begin());
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(none->accessible);
  EXPECT_EQ(none->begin, closed.begin());
  EXPECT_EQ(none->end, closed.begin() + kMapped);
  EXPECT_FALSE(mapping_of(0).has_value());
}

TEST(Mappings, KnowWhatProcessesOfTheJobHaveInCommon) {
  const Mapped ours("clump test"), other("lump test"), nearly("clump"), longer("clumpy test"),
      anonymous(nullptr);
  const auto is_ours = [](const Mapped& mapped) {
    const auto found = mapping_of(mapped.begin());
    return found.has_value() && found->is_shared_by_us;
  };
  EXPECT_TRUE(is_ours(ours));
  EXPECT_FALSE(is_ours(other));
  EXPECT_FALSE(is_ours(longer));
  EXPECT_FALSE(is_ours(anonymous));
  EXPECT_TRUE(is_ours(nearly)) << "a space follows: '/memfd:clump (deleted)'";
}

}  // namespace
}  // namespace clump::host
