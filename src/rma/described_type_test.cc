#include "rma/described_type.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "datatype/derive.h"

namespace clump::rma {
namespace {

using datatype::Layout;

/// What is packed by the type and by what its description makes is the same.
void expect_same(const datatype::Datatype& type, Count count) {
  const std::vector<Count> description = describe(type);
  const DescribedType made(description);
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

}  // namespace
}  // namespace clump::rma
