#include "rma/described_type.h"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "datatype/derive.h"

namespace clump::rma {
namespace {

using datatype::Layout;

/// What is packed by the type and by what its description makes is the same.
void expect_same(const datatype::Datatype& type, Count count) {
  const std::vector<Count> description = describe(type);
  const std::unique_ptr<DescribedType> described = DescribedType::make(description);
  ASSERT_NE(described, nullptr);
  const DescribedType& made = *described;
  EXPECT_EQ(made.type().size(), type.size());
  EXPECT_EQ(made.type().extent(), type.extent());
  EXPECT_EQ(made.type().true_lb(), type.true_lb());
  EXPECT_EQ(made.type().true_extent(), type.true_extent());
  EXPECT_EQ(made.type().is_dense(), type.is_dense());
  EXPECT_EQ(made.type().element(), type.element());
  std::vector<unsigned char> memory(100000);
  std::iota(memory.begin(), memory.end(), static_cast<unsigned char>(0));
  const auto bytes = static_cast<std::size_t>(count * type.size());
  std::vector<std::byte> expected(bytes), packed(bytes);
  void* const base = memory.data() + 1000;
  datatype::pack(expected, Layout{base, count, &type}, 0);
  datatype::pack(packed, Layout{base, count, &made.type()}, 0);
  EXPECT_EQ(packed, expected);
}

const datatype::Datatype& basic(MPI_Datatype handle) { return *datatype::predefined(handle); }

TEST(DescribedType, EveryKindOfNode) {
  expect_same(basic(MPI_DOUBLE), 3);
  datatype::Made vector, nested, indexed, gather, mixed, list;
  ASSERT_TRUE(datatype::make_vector({5, 2, 7}, basic(MPI_INT), vector).ok());
  expect_same(*vector.type, 4);
  ASSERT_TRUE(datatype::make_vector({3, 2, 9}, *vector.type, nested).ok());
  expect_same(*nested.type, 2);
  const std::vector<Count> lengths{1, 3, 2, 1}, places{4, 0, 9, 17};
  ASSERT_TRUE(datatype::make_indexed(lengths, places, basic(MPI_SHORT), indexed).ok());
  expect_same(*indexed.type, 5);
  ASSERT_TRUE(datatype::make_indexed_block(1, places, basic(MPI_DOUBLE), gather).ok());
  expect_same(*gather.type, 3);
  const std::vector<Count> one{1, 2}, at{-16, 800};
  const std::vector<const datatype::Datatype*> types{nested.type.get(), indexed.type.get()};
  ASSERT_TRUE(datatype::make_struct(one, at, types, mixed).ok());
  expect_same(*mixed.type, 2);
  ASSERT_TRUE(datatype::make_resized(*mixed.type, -64, 2048, list).ok());
  expect_same(*list.type, 7);
}

/// Whatever comes: none, or a type whose data lie within the bounds that it tells.
void expect_harmless(const std::vector<Count>& description) {
  const std::unique_ptr<DescribedType> made = DescribedType::make(description);
  if (made == nullptr) return;
  const datatype::Datatype& type = made->type();
  const Count from = type.true_lb(), bytes = type.true_extent();
  if (type.size() > 100000 || bytes > 100000) return;
  std::vector<std::byte> memory(static_cast<std::size_t>(bytes)),
      packed(static_cast<std::size_t>(type.size()));
  datatype::pack(packed, Layout{memory.data() - from, 1, &type},
                 0);  // with a sanitizer: nothing outside is read
}

TEST(DescribedType, OtherNumbersDoNoHarm) {
  datatype::Made vector, indexed, mixed;
  ASSERT_TRUE(datatype::make_vector({5, 2, 7}, basic(MPI_INT), vector).ok());
  const std::vector<Count> lengths{1, 3, 2, 1}, places{4, 0, 9, 17}, one{1, 2}, at{-16, 800};
  ASSERT_TRUE(datatype::make_indexed(lengths, places, basic(MPI_SHORT), indexed).ok());
  const std::vector<const datatype::Datatype*> types{vector.type.get(), indexed.type.get()};
  ASSERT_TRUE(datatype::make_struct(one, at, types, mixed).ok());
  for (const datatype::Datatype* const type : {vector.type.get(), indexed.type.get(), mixed.type.get()}) {
    const std::vector<Count> right = describe(*type);
    for (std::size_t i = 0; i < right.size(); ++i) {
      for (const Count other :
           {Count{-1}, Count{0}, Count{1}, right[i] + 1, right[i] * 2, right[i] - 8, Count{1} << 40,
            std::numeric_limits<Count>::max(), std::numeric_limits<Count>::min()}) {
        std::vector<Count> wrong = right;
        wrong[i] = other;
        expect_harmless(wrong);
      }
      expect_harmless({right.begin(), right.begin() + static_cast<std::ptrdiff_t>(i)});
    }
    std::vector<Count> longer = right;
    longer.push_back(0);
    EXPECT_EQ(DescribedType::make(longer), nullptr);
  }
  std::mt19937_64 draw(1);
  std::vector<Count> drawn(40);
  for (int i = 0; i < 20000; ++i) {
    for (Count& number : drawn) number = static_cast<Count>(draw() % 9) - 2;
    expect_harmless(drawn);
  }
}

}  // namespace
}  // namespace clump::rma
