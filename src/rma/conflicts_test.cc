#include "rma/conflicts.h"

#include <gtest/gtest.h>

#include <array>

#include "datatype/derive.h"

namespace clump::rma {
namespace {

using Kind = OpenAccess::Kind;

const datatype::Datatype* type(MPI_Datatype handle) { return datatype::predefined(handle); }

/// Of the ranks.
std::array<core::Telling, 3> telling;

OpenAccess access(Kind kind, int origin, std::intptr_t offset, Count bytes, MPI_Datatype element = MPI_INT) {
  const bool is_atomic = kind == Kind::kAccumulate || kind == Kind::kFetch;
  return {.kind = kind,
          .origin = origin,
          .by = &telling[static_cast<std::size_t>(origin)],
          .place = {reinterpret_cast<void*>(offset), bytes, type(MPI_BYTE)},
          .element = is_atomic ? type(element) : nullptr};
}

/// The accesses of an origin are over.
void end(Conflicts& all, int origin, int target) {
  all.end(telling[static_cast<std::size_t>(origin)], origin, target, 0);
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

TEST(Conflicts, FetchesOnlyRead) {
  Conflicts all(1);
  EXPECT_FALSE(all.add(0, access(Kind::kFetch, 0, 0, 4)));
  EXPECT_FALSE(all.add(0, access(Kind::kGet, 1, 0, 4)));
  EXPECT_FALSE(all.add(0, access(Kind::kFetch, 1, 0, 4, MPI_FLOAT)));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 0, 4)));
  Conflicts others(1);
  EXPECT_FALSE(others.add(0, access(Kind::kFetch, 0, 0, 4)));
  EXPECT_FALSE(others.add(0, access(Kind::kAccumulate, 1, 0, 4)));
}

TEST(Conflicts, AnAccessThatIsOverIsBeforeThoseOfItsOrigin) {
  Conflicts all(2);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  EXPECT_FALSE(all.add(1, access(Kind::kPut, 0, 0, 8)));
  end(all, 1, -1);
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  end(all, 0, 0);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  EXPECT_TRUE(all.add(1, access(Kind::kPut, 0, 0, 8)));
}

TEST(Conflicts, OthersHaveToLearnThatItIsOver) {
  Conflicts all(1);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  end(all, 0, 0);
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  ++telling[0].told;
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  end(all, 1, 0);
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 2, 0, 8)));
  ++telling[2].joined;
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 2, 0, 8)));
}

TEST(Conflicts, ExclusiveLocksOrder) {
  using Lock = OpenAccess::Lock;
  const auto after = [](Lock first, Lock second) {
    Conflicts all(1);
    OpenAccess one = access(Kind::kPut, 0, 0, 8), two = access(Kind::kPut, 1, 0, 8);
    one.lock = first;
    two.lock = second;
    EXPECT_FALSE(all.add(0, one));
    end(all, 0, 0);
    return all.add(0, two).has_value();
  };
  EXPECT_TRUE(after(Lock::kShared, Lock::kShared));
  EXPECT_FALSE(after(Lock::kExclusive, Lock::kShared));
  EXPECT_FALSE(after(Lock::kShared, Lock::kExclusive));
  EXPECT_TRUE(after(Lock::kExclusive, Lock::kNone));
}

TEST(Conflicts, TheOwnerSynchronisesItsMemory) {
  Conflicts all(2);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 1, 0, 8)));
  EXPECT_TRUE(all.find(0, access(Kind::kLoad, 0, 0, 8)));
  all.synchronised(1);
  EXPECT_TRUE(all.find(0, access(Kind::kLoad, 0, 0, 8)));
  all.synchronised(0);
  EXPECT_FALSE(all.find(0, access(Kind::kLoad, 0, 0, 8)));
}

TEST(Conflicts, WhatIsCompleteLocallyHasBeenRead) {
  Conflicts all(2);
  OpenAccess get = access(Kind::kGet, 0, 0, 8);
  get.operation = 1;
  EXPECT_FALSE(all.add(0, get));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  all.end_operation(telling[0], 0, 1);
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 0, 0, 8)));
  EXPECT_FALSE(all.add(1, access(Kind::kGet, 0, 0, 8)));
  all.end(telling[0], 0, -1, 0, Conflicts::Which::kReads);
  EXPECT_FALSE(all.add(1, access(Kind::kPut, 0, 0, 8)));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 0, 0, 8)));  // a put is not over by that
}

TEST(Conflicts, NoPutsArePromised) {
  Conflicts all(1);
  all.promise_no_puts(0, {.fence = 2});
  OpenAccess put = access(Kind::kPut, 0, 0, 8), get = access(Kind::kGet, 0, 0, 8);
  put.fence = get.fence = 1;
  EXPECT_FALSE(all.broken_promise(0, put));
  put.fence = get.fence = 2;
  EXPECT_TRUE(all.broken_promise(0, put));
  EXPECT_FALSE(all.broken_promise(0, get));
  all.promise_no_puts(0, {.posted = true});
  EXPECT_FALSE(all.broken_promise(0, put));
  put.started = true;
  EXPECT_TRUE(all.broken_promise(0, put));
  all.end_started(0);
  EXPECT_FALSE(all.broken_promise(0, put));
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

TEST(Conflicts, WhatIsKnownTakesNoRoom) {
  Conflicts all(2);
  OpenAccess store = access(Kind::kStore, 0, 0, 8);
  store.is_over = true;
  for (int i = 0; i < 1 << 18; ++i) {
    store.since.told = telling[0].told++;
    EXPECT_FALSE(all.add(0, store));
  }
  EXPECT_FALSE(all.add(0, access(Kind::kPut, 1, 8, 8)));
  EXPECT_TRUE(all.add(0, access(Kind::kPut, 1, 8, 8)));
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
