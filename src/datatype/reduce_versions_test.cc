// The versions of the reductions for wider vectors, compared bit for bit with the plain one, which
// reduce_test.cc compares with what C++ says.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "datatype/reduce.h"
#include "seed.h"

namespace clump::datatype {
namespace {

constexpr PredefinedOp kOps[] = {PredefinedOp::kSum,  PredefinedOp::kMin,    PredefinedOp::kMax,
                                 PredefinedOp::kProd, PredefinedOp::kBand,   PredefinedOp::kBor,
                                 PredefinedOp::kBxor, PredefinedOp::kLand,   PredefinedOp::kLor,
                                 PredefinedOp::kLxor, PredefinedOp::kMinloc, PredefinedOp::kMaxloc};

// A page between two that nobody may touch.
class GuardedPage {
 public:
  GuardedPage() {
    void* const pages = mmap(nullptr, 3 * size_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    begin_ = static_cast<std::byte*>(pages) + size_;
    EXPECT_EQ(mprotect(begin_, size_, PROT_READ | PROT_WRITE), 0);
  }
  ~GuardedPage() { munmap(begin_ - size_, 3 * size_); }
  GuardedPage(const GuardedPage&) = delete;
  GuardedPage& operator=(const GuardedPage&) = delete;

  std::span<std::byte> bytes() const { return {begin_, size_}; }

 private:
  std::size_t size_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* begin_ = nullptr;
};

// The bits of a number, at the upper end of the word: half of the time those of a number that chance rarely
// finds.
std::uint64_t random_bits(std::mt19937_64& random, std::size_t size) {
  constexpr std::uint64_t kSpecial[] = {0x0000, 0x8000, 0x0001, 0x0100, 0x3c00, 0x3f80, 0x7bff, 0x7c00,
                                        0xfc00, 0x7f80, 0xff80, 0x7fef, 0x7ff0, 0xfff0, 0x7fff, 0xffff};
  std::uint64_t bits = random();
  if (random() % 2 == 0)
    bits = kSpecial[random() % std::size(kSpecial)] << 48 | (bits & 1) << (64 - 8 * size);
  return bits >> (64 - 8 * size) << (64 - 8 * size);
}

// A sum of two different NaNs may be either, so there is only one: what the processor makes of infinity minus
// infinity.
std::uint64_t with_one_nan(std::uint64_t bits, std::size_t size) {
  const int exponent = size == 2 ? 5 : size == 4 ? 8 : 11;
  const std::uint64_t infinity = ((std::uint64_t{1} << exponent) - 1) << (63 - exponent);
  return bits << 1 >> 1 > infinity ? ~std::uint64_t{0} << (62 - exponent) : bits;
}

void fill(std::span<std::byte> bytes, const Datatype& type, PredefinedOp op) {
  const bool is_complex = type.kind() == Class::kComplex,
             is_floating = type.kind() == Class::kFloating || is_complex;
  const bool one_nan = is_floating && (op == PredefinedOp::kSum || op == PredefinedOp::kProd);
  const auto size = static_cast<std::size_t>(is_complex ? type.size() / 2 : type.size());
  static std::mt19937_64 random(test_seed(1));
  for (std::size_t at = 0; at < bytes.size(); at += size) {
    std::uint64_t bits = random_bits(random, size);
    if (one_nan) bits = with_one_nan(bits, size);
    bits >>= 64 - 8 * size;
    std::memcpy(&bytes[at], &bits, size);  // little-endian, as are all machines with versions
  }
}

struct Pages {
  GuardedPage in, inout, out;
};

// Arrays of 0 to 70 elements at the end of their pages; the second also a little away from it, and the first
// then at the beginning. The result goes to the second's place, and to one of its own, around which nothing
// may change.
void expect_same_bits(const Pages& pages, Count extent, Kernel plain, Kernel other) {
  const std::span in = pages.in.bytes(), inout = pages.inout.bytes(), out = pages.out.bytes();
  const std::vector<std::byte> before(inout.begin(), inout.end());
  for (Count n = 0; n <= 70; ++n) {
    for (const Count away : {0, 1, 3}) {
      const auto bytes = static_cast<std::size_t>(n * extent),
                 right_at = inout.size() - bytes - static_cast<std::size_t>(away * extent);
      const std::byte* const left = away == 0 ? in.data() + in.size() - bytes : in.data();
      std::vector<std::byte> expected = before;
      plain(left, &expected[right_at], &expected[right_at], n);
      std::memcpy(inout.data(), before.data(), before.size());
      std::memcpy(out.data(), before.data(), before.size());
      for (const Kernel version : {plain, other}) {
        version(left, inout.data() + right_at, out.data() + right_at, n);
        ASSERT_EQ(std::memcmp(out.data(), expected.data(), expected.size()), 0)
            << n << " elements, " << away << " from the end, to a place of their own";
      }
      other(left, inout.data() + right_at, inout.data() + right_at, n);
      ASSERT_EQ(std::memcmp(inout.data(), expected.data(), expected.size()), 0)
          << n << " elements, " << away << " from the end";
    }
  }
}

TEST(ReduceVersions, GiveTheSameBits) {
  if (widest_vectors() == Vectors::kPlain) GTEST_SKIP() << "no other versions on this machine";
  const Pages pages;
  int compared = 0;
  for (std::uintptr_t value = 0x200; value < 0x300; ++value) {
    const Datatype* const type = predefined(reinterpret_cast<MPI_Datatype>(value));
    if (type == nullptr) continue;
    for (const PredefinedOp op : kOps) {
      const Kernel plain = kernel(op, *type, Vectors::kPlain);
      for (const Vectors vectors : {Vectors::kAvx2, Vectors::kAvx512}) {
        const Kernel other = kernel(op, *type, vectors);
        if (vectors > widest_vectors() || other == plain) continue;
        SCOPED_TRACE(std::string(name_of(op)) + " on " + type->name() + ", version " +
                     std::to_string(static_cast<int>(vectors)));
        fill(pages.in.bytes(), *type, op);
        fill(pages.inout.bytes(), *type, op);
        expect_same_bits(pages, type->extent(), plain, other);
        if (HasFatalFailure()) return;
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 200);
}

}  // namespace
}  // namespace clump::datatype
