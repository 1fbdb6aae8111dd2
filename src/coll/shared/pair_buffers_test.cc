// The staging buffers of non-blocking operations: which rank owns which, and when there are none. What comes
// of operations that use them is tested in shared/pending_test.cc, with two ranks.
#include "coll/shared/pair_buffers.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

constexpr int kCount = 4096;

/// Buffers of two ranks that send and receive so many ints.
class PairBuffersTest : public testing::Test {
 protected:
  PairBuffer* fill(int rank) { return buffers_.fill(rank, {.send = ints(data_)}, nullptr); }
  /// The rank gives, and the other one has read it.
  bool gives(int rank) {
    PairBuffer* const buffer = fill(rank);
    if (buffer != nullptr) buffers_.read(rank, *buffer, false);
    return buffer != nullptr;
  }
  /// Until an operation goes without a buffer, so that somebody may judge.
  int given_until_asked(int rank) {
    int given = 0;
    while (gives(rank)) ++given;
    return given;
  }

  /// What does not lie in one piece counts as far.
  void judge_as_far(int rank) {
    const datatype::Datatype& pair = *datatype::predefined(MPI_SHORT_INT);
    ASSERT_FALSE(pair.is_dense());
    if (buffers_.is_asked(rank)) buffers_.judge(rank, {.send = {data_.data(), kCount / 2, &pair}});
  }

  std::vector<int> data_ = std::vector<int>(kCount);
  PairBuffers buffers_;
};

TEST_F(PairBuffersTest, HoldWhatIsGiven) {
  std::iota(data_.begin(), data_.end(), 1);
  PairBuffer* const buffer = fill(0);
  ASSERT_NE(buffer, nullptr);
  std::vector<int> taken(kCount);
  const PairTransfer transfer{.recv = ints(taken)};
  transfer.receive_from(*buffer, 1, nullptr);
  EXPECT_EQ(taken, data_);
}

TEST_F(PairBuffersTest, BelongToTheLastReader) {
  PairBuffer* const first = fill(0);
  PairBuffer* const second = fill(1);
  buffers_.read(0, *first, true);
  buffers_.read(1, *second, true);
  EXPECT_EQ(fill(1), first);
  EXPECT_EQ(fill(0), second);
}

// A rank that only reads gives one of its own for the buffer, if it has one.
TEST_F(PairBuffersTest, ComeBackFromARankThatOnlyReads) {
  PairBuffer* const first = fill(0);
  buffers_.read(0, *first, false);
  PairBuffer* const second = fill(0);
  EXPECT_NE(second, first);
  buffers_.read(0, *second, false);
  EXPECT_EQ(fill(0), first);
}

TEST_F(PairBuffersTest, AreFew) {
  std::vector<PairBuffer*> filled;
  while (PairBuffer* const buffer = fill(0)) filled.push_back(buffer);
  EXPECT_EQ(filled.size(), 4U);
  EXPECT_NE(fill(1), nullptr);  // has buffers of its own
  buffers_.give_back(0, *filled.front());
  EXPECT_EQ(fill(0), filled.front());
}

TEST_F(PairBuffersTest, AreNotForLittleOrForTooMuch) {
  data_.resize(100);
  EXPECT_EQ(fill(0), nullptr);
  data_.resize(kPairBuffer / sizeof(int));
  EXPECT_NE(fill(0), nullptr);
  data_.resize(kPairBuffer / sizeof(int) + 1);
  EXPECT_EQ(fill(0), nullptr);
}

TEST_F(PairBuffersTest, AreNotUsedWhereOthersHelp) {
  EXPECT_TRUE(gives(0));
  buffers_.note_help();
  EXPECT_FALSE(gives(0));
  EXPECT_FALSE(gives(1));
  // It is tried again.
  for (int i = 0; i < 30; ++i) {
    gives(0);
    judge_as_far(0);
  }
  EXPECT_TRUE(gives(0));
}

TEST_F(PairBuffersTest, AreUsedAsLongAsDataIsFar) {
  for (int trial = 0; trial < 3; ++trial) {
    EXPECT_EQ(given_until_asked(0), 64);
    judge_as_far(0);
  }
  EXPECT_EQ(given_until_asked(0), 64);
  EXPECT_EQ(given_until_asked(0), 64);  // nobody judged: as before
}

}  // namespace
}  // namespace clump::coll
