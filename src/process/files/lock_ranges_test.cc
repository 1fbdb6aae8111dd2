// What an owner of record locks has after it has set some: as fcntl(2) says, later ones replace earlier ones.
#include "process/files/lock_ranges.h"

#include <gtest/gtest.h>

#include <limits>

namespace clump::image::locks {
namespace {

struct flock lock_of(off_t begin, off_t bytes, short type) {
  struct flock lock {};
  lock.l_start = begin;
  lock.l_len = bytes;
  lock.l_type = type;
  return lock;
}

TEST(Range, LengthsAreAsThoseOfFcntl) {
  EXPECT_EQ(Range::of(lock_of(5, 0, F_RDLCK)).end, std::numeric_limits<off_t>::max());
  EXPECT_EQ(Range::of(lock_of(10, -4, F_RDLCK)).begin, 6);
  EXPECT_EQ(Range::of(lock_of(10, -4, F_RDLCK)).end, 10);
  EXPECT_EQ(Range::of(lock_of(10, std::numeric_limits<off_t>::max(), F_RDLCK)).end,
            std::numeric_limits<off_t>::max());
}

TEST(Ranges, ReadersDoNotExcludeReaders) {
  Ranges mine;
  mine.set({0, 10, F_RDLCK});
  EXPECT_FALSE(mine.exclude({0, 10, F_RDLCK}));
  EXPECT_TRUE(mine.exclude({9, 20, F_WRLCK}));
  EXPECT_FALSE(mine.exclude({10, 20, F_WRLCK}));
}

TEST(Ranges, UnlockingTheMiddleLeavesBothEnds) {
  Ranges mine;
  mine.set({0, 30, F_WRLCK});
  mine.set({10, 20, F_UNLCK});
  EXPECT_TRUE(mine.exclude({9, 10, F_RDLCK}));
  EXPECT_FALSE(mine.exclude({10, 20, F_WRLCK}));
  EXPECT_TRUE(mine.exclude({20, 21, F_RDLCK}));
}

TEST(Ranges, LaterKindReplacesEarlier) {
  Ranges mine;
  mine.set({0, 30, F_WRLCK});
  mine.set({10, 20, F_RDLCK});
  EXPECT_FALSE(mine.exclude({10, 20, F_RDLCK}));
  EXPECT_TRUE(mine.exclude({0, 1, F_RDLCK}));
  EXPECT_TRUE(mine.exclude({29, 30, F_RDLCK}));
}

}  // namespace
}  // namespace clump::image::locks
