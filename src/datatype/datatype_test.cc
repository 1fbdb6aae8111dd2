// Known types with known answers. Random types against a naive reference: random_types_test.cc.
#include "datatype/datatype.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "datatype/content.h"
#include "datatype/derive.h"
#include "datatype/move.h"
#include "datatype/stream.h"

namespace clump::datatype {
namespace {

const Datatype& kInt() { return *predefined(MPI_INT); }
const Datatype& kDouble() { return *predefined(MPI_DOUBLE); }

TEST(Predefined, HasEveryTypeOfTheAbi) {
  const std::vector<std::pair<MPI_Datatype, Count>> sizes = {{MPI_CHAR, 1},
                                                             {MPI_INT, 4},
                                                             {MPI_LONG, 8},
                                                             {MPI_DOUBLE, 8},
                                                             {MPI_LONG_DOUBLE, 16},
                                                             {MPI_INTEGER, 4},
                                                             {MPI_COMPLEX, 8},
                                                             {MPI_COMPLEX32, 32},
                                                             {MPI_REAL2, 2},
                                                             {MPI_LOGICAL, 4},
                                                             {MPI_FLOAT_INT, 8},
                                                             {MPI_DOUBLE_INT, 12},
                                                             {MPI_LONG_DOUBLE_INT, 20},
                                                             {MPI_SHORT_INT, 6},
                                                             {MPI_PACKED, 1},
                                                             {MPI_AINT, 8},
                                                             {MPI_COUNT, 8},
                                                             {MPI_OFFSET, 8},
                                                             {MPI_2INT, 8},
                                                             {MPI_WCHAR, 4}};
  for (const auto& [handle, size] : sizes) {
    ASSERT_NE(predefined(handle), nullptr);
    EXPECT_EQ(predefined(handle)->size(), size) << predefined(handle)->name();
    EXPECT_EQ(predefined(handle)->handle_value(), reinterpret_cast<std::intptr_t>(handle));
    EXPECT_TRUE(predefined(handle)->committed());
  }
  EXPECT_EQ(predefined(MPI_DATATYPE_NULL), nullptr);
  EXPECT_EQ(predefined(reinterpret_cast<MPI_Datatype>(4096)), nullptr);
  EXPECT_EQ(predefined(MPI_DOUBLE_INT)->extent(), 16);
  EXPECT_EQ(predefined(MPI_LONG_DOUBLE_INT)->extent(), 32);
  EXPECT_TRUE(predefined(MPI_FLOAT_INT)->is_dense());
  EXPECT_FALSE(predefined(MPI_SHORT_INT)->is_dense());
}

TEST(Normalisation, MergesWhatTouches) {
  Made row, matrix, column, face;
  ASSERT_TRUE(make_contiguous(10, kDouble(), row).ok());
  EXPECT_TRUE(row.type->is_dense());
  ASSERT_TRUE(make_vector({4, 10, 10}, kDouble(), matrix).ok());
  EXPECT_TRUE(matrix.type->is_dense());
  ASSERT_TRUE(make_vector({4, 1, 10}, kDouble(), column).ok());
  EXPECT_EQ(column.type->root().kind, Node::Kind::kStrided);
  const Count sizes[] = {5, 6, 7}, subsizes[] = {5, 6, 1}, starts[] = {0, 0, 3};
  ASSERT_TRUE(make_subarray({sizes, subsizes, starts, MPI_ORDER_C}, kDouble(), face).ok());
  EXPECT_EQ(face.type->root().kind, Node::Kind::kStrided);
  EXPECT_EQ(face.type->root().count, 30);
  EXPECT_EQ(face.type->root().offset, 24);
  EXPECT_EQ(face.type->extent(), 5 * 6 * 7 * 8);
}

TEST(Normalisation, FindsRegularityInLists) {
  Made regular, gather, blocks;
  const Count ones[] = {1, 1, 1}, even[] = {0, 2, 4}, uneven[] = {0, 2, 7}, lengths[] = {1, 2, 3};
  ASSERT_TRUE(make_indexed(ones, even, kInt(), regular).ok());
  EXPECT_EQ(regular.type->root().kind, Node::Kind::kStrided);
  ASSERT_TRUE(make_indexed_block(1, uneven, kInt(), gather).ok());
  EXPECT_EQ(gather.type->root().kind, Node::Kind::kGather);
  ASSERT_TRUE(make_indexed(lengths, uneven, kInt(), blocks).ok());
  EXPECT_EQ(blocks.type->root().kind, Node::Kind::kBlocks);
}

TEST(Bounds, StructIsPaddedAndMarkersWin) {
  const Count ones[] = {1, 1}, places[] = {0, 8};
  const Datatype* fields[] = {&kDouble(), predefined(MPI_CHAR)};
  Made record;
  ASSERT_TRUE(make_struct(ones, places, fields, record).ok());
  EXPECT_EQ(record.type->size(), 9);
  EXPECT_EQ(record.type->extent(), 16);
  EXPECT_EQ(record.type->true_extent(), 9);

  Made resized, around;
  ASSERT_TRUE(make_resized(kInt(), -4, 5, resized).ok());
  EXPECT_EQ(resized.type->lb(), -4);
  EXPECT_EQ(resized.type->extent(), 5);
  EXPECT_EQ(resized.type->true_lb(), 0);
  const Count far[] = {0, 100};
  const Datatype* mixed[] = {resized.type.get(), &kDouble()};
  ASSERT_TRUE(make_struct(ones, far, mixed, around).ok());
  EXPECT_EQ(around.type->lb(), -4);
  EXPECT_EQ(around.type->extent(), 5);
  EXPECT_EQ(around.type->true_extent(), 108);
}

TEST(Bounds, TooLargeIsAnError) {
  Made large, larger;
  ASSERT_TRUE(make_contiguous(Count{1} << 58, kDouble(), large).ok());
  EXPECT_EQ(large.type->size(), Count{1} << 61);
  EXPECT_EQ(make_contiguous(8, *large.type, larger).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(make_vector({2, 1, Count{1} << 62}, kDouble(), larger).error_class(), MPI_ERR_COUNT);
  const Count sizes[] = {Count{1} << 40, Count{1} << 40}, one[] = {1, 1}, zero[] = {0, 0};
  EXPECT_EQ(make_subarray({sizes, one, zero, MPI_ORDER_C}, kDouble(), larger).error_class(), MPI_ERR_COUNT);
}

TEST(Elements, CountsPartsOfTypes) {
  const Count lengths[] = {2, 1}, places[] = {0, 8};
  const Datatype* fields[] = {&kInt(), &kDouble()};
  Made record, vector;
  ASSERT_TRUE(make_struct(lengths, places, fields, record).ok());
  EXPECT_EQ(record.type->elements_in(0), 0);
  EXPECT_EQ(record.type->elements_in(4), 1);
  EXPECT_EQ(record.type->elements_in(5), -1);
  EXPECT_EQ(record.type->elements_in(16), 3);
  EXPECT_EQ(record.type->elements_in(16 * 7 + 8), 23);
  ASSERT_TRUE(make_vector({3, 2, 4}, *record.type, vector).ok());
  EXPECT_EQ(vector.type->elements_in(6 * 16 + 4), 19);
  EXPECT_EQ(predefined(MPI_DOUBLE_INT)->elements_in(12), 2);
  EXPECT_EQ(predefined(MPI_DOUBLE_INT)->elements_in(20), 3);
  EXPECT_EQ(predefined(MPI_DOUBLE_INT)->elements_in(16), -1);
  for (const Datatype* type : {record.type.get(), vector.type.get(), predefined(MPI_SHORT_INT), &kInt()}) {
    for (Count elements = 0; elements < 50; ++elements) {
      EXPECT_EQ(type->elements_in(type->bytes_of_elements(elements)), elements) << type->description();
    }
  }
}

TEST(Signatures, OfTheFirstElements) {
  const Count lengths[] = {2, 1, 2}, places[] = {0, 8, 16};
  const Datatype* fields[] = {&kInt(), &kDouble(), predefined(MPI_FLOAT_INT)};
  Made record, vector;
  ASSERT_TRUE(make_struct(lengths, places, fields, record).ok());
  ASSERT_TRUE(make_vector({2, 2, 3}, *record.type, vector).ok());
  const Datatype* sequence[] = {
      &kInt(), &kInt(), &kDouble(), predefined(MPI_FLOAT), &kInt(), predefined(MPI_FLOAT), &kInt()};
  Signature expected;
  for (Count elements = 0; elements < 100; ++elements) {
    EXPECT_EQ(record.type->signature_of(elements), expected) << elements;
    EXPECT_EQ(vector.type->signature_of(elements), expected) << elements;
    expected = expected.then(sequence[elements % 7]->signature());
  }
  EXPECT_EQ(vector.type->signature_of(28), vector.type->signature());
}

TEST(Signatures, DependOnTheSequenceOnly) {
  Made a, b, c, d;
  ASSERT_TRUE(make_contiguous(6, kInt(), a).ok());
  ASSERT_TRUE(make_vector({3, 2, 5}, *predefined(MPI_INTEGER), b).ok());
  EXPECT_EQ(a.type->signature(), b.type->signature());
  const Count ones[] = {1, 1}, places[] = {0, 8};
  const Datatype* forward[] = {&kInt(), &kDouble()};
  const Datatype* backward[] = {&kDouble(), &kInt()};
  ASSERT_TRUE(make_struct(ones, places, forward, c).ok());
  ASSERT_TRUE(make_struct(ones, places, backward, d).ok());
  EXPECT_NE(c.type->signature().hash, d.type->signature().hash);
  EXPECT_EQ(c.type->signature().then(c.type->signature()), c.type->signature().times(2));
  EXPECT_EQ(kInt().signature().then(d.type->signature().times(3)),
            c.type->signature().times(3).then(kInt().signature()));
  EXPECT_EQ(a.type->element(), &kInt());
  EXPECT_EQ(c.type->element(), nullptr);
}

TEST(Contents, MatchHoweverTheTypesWereMade) {
  const auto of = [](Count count, const Datatype& type) { return Content::of({nullptr, count, &type}); };
  Made four, two, turned, mixed;
  ASSERT_TRUE(make_contiguous(4, kInt(), four).ok());
  ASSERT_TRUE(make_vector({2, 1, 7}, kInt(), two).ok());
  const Content ints = of(4, kInt());
  EXPECT_TRUE(matches(ints, of(1, *four.type)));
  EXPECT_TRUE(matches(ints, of(2, *two.type)));
  EXPECT_FALSE(matches(ints, of(5, kInt())));
  EXPECT_FALSE(matches(ints, of(4, *predefined(MPI_FLOAT))));
  EXPECT_FALSE(matches(ints, of(4, *predefined(MPI_UNSIGNED))));
  EXPECT_FALSE(matches(ints, of(2, kDouble())));

  const Count ones[] = {1, 1}, places[] = {8, 0};
  const Datatype *int_first[] = {&kInt(), &kDouble()}, *with_packed[] = {&kInt(), predefined(MPI_PACKED)};
  ASSERT_TRUE(make_struct(ones, places, int_first, turned).ok());
  EXPECT_FALSE(matches(of(3, *turned.type), of(3, *predefined(MPI_DOUBLE_INT))));  // the double comes first

  // Bytes are one of the basic types; packed data may be anything.
  EXPECT_FALSE(matches(ints, of(16, *predefined(MPI_BYTE))));
  EXPECT_TRUE(matches(of(16, *predefined(MPI_BYTE)), of(16, *predefined(MPI_BYTE))));
  EXPECT_TRUE(matches(ints, of(16, *predefined(MPI_PACKED))));
  EXPECT_TRUE(matches(of(16, *predefined(MPI_PACKED)), of(16, *predefined(MPI_BYTE))));
  EXPECT_FALSE(matches(ints, of(15, *predefined(MPI_PACKED))));
  ASSERT_TRUE(make_struct(ones, places, with_packed, mixed).ok());
  EXPECT_TRUE(matches(of(1, *mixed.type), of(5, *predefined(MPI_BYTE))));

  // Nothing is nothing of any type.
  EXPECT_TRUE(matches(of(0, kInt()), of(0, kDouble())));
  EXPECT_TRUE(matches(Content::of(Layout()), of(0, kDouble())));
}

TEST(Copy, WorksWithAbsoluteAddresses) {
  int values[] = {1, 2, 3, 4}, out[4] = {};
  const Count length[] = {4}, place[] = {static_cast<Count>(reinterpret_cast<std::intptr_t>(values))};
  Made absolute;
  ASSERT_TRUE(make_hindexed(length, place, kInt(), absolute).ok());
  copy({out, 4, &kInt()}, {MPI_BOTTOM, 1, absolute.type.get()}, 0, 16);
  EXPECT_EQ(out[0], 1);
  EXPECT_EQ(out[3], 4);
}

TEST(Copy, LongBlocksAtAnyAddress) {
  constexpr Count kMost = kLong + 300, kGuard = 64;
  std::vector<std::byte> from(kMost + 2 * kGuard), to(kMost + 2 * kGuard);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256 + 1);
  for (Count bytes = kLong; bytes <= kMost; bytes += 13) {
    for (Count at = 0; at < kGuard; ++at) {
      const Count source = (at * 5 + bytes) % kGuard;
      std::ranges::fill(to, std::byte{0});
      move(reinterpret_cast<std::intptr_t>(to.data()) + at,
           reinterpret_cast<std::intptr_t>(from.data()) + source, bytes);
      ASSERT_TRUE(std::equal(to.begin() + at, to.begin() + at + bytes, from.begin() + source))
          << bytes << " bytes to " << at << " from " << source;
      ASSERT_EQ(std::count(to.begin(), to.begin() + at, std::byte{0}), at);
      ASSERT_EQ(std::count(to.begin() + at + bytes, to.end(), std::byte{0}),
                to.end() - to.begin() - at - bytes);
    }
  }
}

TEST(Copy, PastTheCachesAtAnyAddress) {
  std::vector<unsigned char> from(2048), to(2048);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + i / 256);
  for (std::size_t skew = 0; skew < 64; skew += 3)
    for (std::size_t bytes = 0; bytes < 700; bytes += 1 + bytes / 16) {
      std::fill(to.begin(), to.end(), 0xee);
      stream(to.data() + 64 + skew, from.data() + bytes % 64, static_cast<Count>(bytes));
      drain_streams();
      std::vector<unsigned char> expected(to.size(), 0xee);
      std::copy_n(from.data() + bytes % 64, bytes, expected.data() + 64 + skew);
      ASSERT_EQ(to, expected) << bytes << " bytes to " << skew;
    }
}

TEST(Copy, DeepNestingNeedsNoLimit) {
  // Each level has gaps that keep it from merging with the one above.
  Ref type(&kInt());
  for (int level = 0; level < 14; ++level) {
    const Count lengths[] = {1, 2}, places[] = {0, 2};
    const Datatype* fields[] = {predefined(MPI_CHAR), type.get()};
    Made record, spread;
    ASSERT_TRUE(make_struct(lengths, places, fields, record).ok());
    ASSERT_TRUE(make_resized(*record.type, 0, record.type->extent() + 3, spread).ok());
    type = spread.type;
  }
  ASSERT_GT(type->root().depth, 12u);
  std::vector<std::byte> from(type->true_extent(), std::byte{7}), to(type->size());
  pack(to, {from.data() - type->true_lb(), 1, type.get()}, 0);
  EXPECT_EQ(std::count(to.begin(), to.end(), std::byte{7}), type->size());
}

}  // namespace
}  // namespace clump::datatype
