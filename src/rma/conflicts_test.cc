#include "rma/conflicts.h"

#include <gtest/gtest.h>

#include "datatype/derive.h"

namespace clump::rma {
namespace {

using Kind = OpenAccess::Kind;

const datatype::Datatype* type(MPI_Datatype handle) { return datatype::predefined(handle); }

OpenAccess access(Kind kind, int origin, std::intptr_t offset, Count bytes, MPI_Datatype element = MPI_INT) {
  return {.kind = kind,
          .origin = origin,
          .place = {reinterpret_cast<void*>(offset), bytes, type(MPI_BYTE)},
          .element = kind == Kind::kAccumulate ? type(element) : nullptr};
}

TEST(Conflicts, PutsMeet) {
  Conflicts all(3);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 2, 8, 8)));   // beside it
  EXPECT_FALSE(all.add(1, access(Kind::kPut, 2, 0, 16)));  // another target
  const auto other = all.add(0, access(Kind::kPut, 2, 7, 1));
  ASSERT_TRUE(other);
  EXPECT_EQ(other->origin, 1);
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 0, 1)));  // of one origin, too
}

TEST(Conflicts, GetsAndAccumulatesMeetTheirKind) {
  Conflicts all(2);
  EXPECT_FALSE(all.add(0, access(Kind::kGet, 0, 0, 8)));
  EXPECT_FALSE(all.add(0, access(Kind::kGet, 1, 0, 8)));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 4, 1)));
  EXPECT_TRUE(all.add(0, access(Kind::kAccumulate, 1, 4, 4)));
  EXPECT_FALSE(all.add(1, access(Kind::kAccumulate, 0, 0, 8)));
  EXPECT_FALSE(all.add(1, access(Kind::kAccumulate, 1, 0, 8)));
  EXPECT_TRUE(all.add(1, access(Kind::kAccumulate, 1, 0, 8, MPI_DOUBLE)));
  EXPECT_TRUE(all.add(1, access(Kind::kGet, 1, 0, 8)));
}

TEST(Conflicts, EndedOnesDoNot) {
  Conflicts all(2);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  EXPECT_FALSE(all.add(1, access(Kind::kPut, 0, 0, 8)));
  all.end(1, -1);
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  all.end(0, 0);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  EXPECT_TRUE(all.add(1, access(Kind::kPut, 1, 0, 8)));
  all.end(0, -1);
  EXPECT_FALSE(all.add(1, access(Kind::kPut, 1, 0, 8)));
}

TEST(Conflicts, StartedOnesLastUntilTheTargetWaits) {
  Conflicts all(1);
  OpenAccess started = access(Kind::kPut, 0, 0, 8);
  started.started = true;
  EXPECT_FALSE(all.add(0, started));
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 8, 8)));
  all.end_started(0);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 0, 8, 8)));
}

TEST(Conflicts, AFenceIsBetween) {
  Conflicts all(1);
  OpenAccess first = access(Kind::kPut, 0, 0, 8), second = access(Kind::kPut, 0, 0, 8);
  first.fence = 1;
  second.fence = 2;
  EXPECT_FALSE(all.add(0, first));
  EXPECT_FALSE(all.add(0, second));
  EXPECT_TRUE(all.add(0, second));
}

TEST(Conflicts, ColumnsDoNotMeet) {
  Conflicts all(1);
  datatype::Made column;
  ASSERT_TRUE(datatype::make_vector({4, 1, 2}, *type(MPI_INT), column).ok());
  OpenAccess one = access(Kind::kPut, 0, 0, 0);
  one.place = {nullptr, 1, column.type.get()};
  EXPECT_FALSE(all.add(0, one));
  one.place.base = reinterpret_cast<void*>(4);
  EXPECT_FALSE(all.add(0, one));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 0, 27, 2)));
}

}  // namespace
}  // namespace clump::rma
