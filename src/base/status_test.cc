#include "base/status.h"

#include <gtest/gtest.h>

namespace clump::base {
namespace {

TEST(Status, SuccessIsZero) {
  EXPECT_TRUE(Status().ok());
  EXPECT_EQ(Status().code(), MPI_SUCCESS);
}

TEST(Status, FailureKeepsClassAndText) {
  const Status status = fail(MPI_ERR_RANK, "dest is {}", 7);
  EXPECT_FALSE(status.ok());
  EXPECT_GT(status.code(), 0);
  EXPECT_EQ(status.error_class(), MPI_ERR_RANK);
  EXPECT_EQ(message_of(status.code()), "dest is 7");
}

TEST(Status, BareClassHasNoText) { EXPECT_EQ(message_of(MPI_ERR_TAG), ""); }

TEST(Status, OldTextsGiveWay) {
  const Status old = fail(MPI_ERR_TAG, "old");
  for (int i = 0; i < 200'000; ++i) {
    const Status status = fail(MPI_ERR_ARG, "{}", i);
    ASSERT_GT(status.code(), 0);
    ASSERT_EQ(message_of(status.code()), std::to_string(i));
  }
  EXPECT_NE(message_of(old.code()), "old");
}

// A rank may lose its core before it asks, and other ranks of the process fail meanwhile.
TEST(Status, ATextOutlivesThousandsOfOtherFailures) {
  const Status old = fail(MPI_ERR_TAG, "old");
  for (int i = 0; i < 16'000; ++i) ASSERT_EQ(fail(MPI_ERR_ARG, "{}", i).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(message_of(old.code()), "old");
}

TEST(FailureTexts, OfARankAreApartFromThoseOfTheProcess) {
  FailureTexts one(FailureTexts::Of::kRank, 4), other(FailureTexts::Of::kRank, 4);
  const Status mine = one.keep(MPI_ERR_TAG, "mine"), theirs = other.keep(MPI_ERR_RANK, "theirs");
  for (int i = 0; i < 100'000; ++i) ASSERT_NE(fail(MPI_ERR_ARG, "{}", i).code(), mine.code());
  EXPECT_EQ(mine.error_class(), MPI_ERR_TAG);
  EXPECT_EQ(one.find(mine.code()), "mine");
  EXPECT_EQ(other.find(theirs.code()), "theirs");
  EXPECT_EQ(message_of(mine.code()), "");
  EXPECT_EQ(one.find(fail(MPI_ERR_ARG, "of the process").code()), "");
  for (int i = 0; i < 4; ++i) ASSERT_FALSE(one.keep(MPI_ERR_ARG, "newer").ok());
  EXPECT_EQ(one.find(mine.code()), "") << "newer ones of the same rank take its place";
}

Status pass_on(Status status) {
  CLUMP_TRY(status);
  return fail(MPI_ERR_OTHER, "reached the end");
}

TEST(Status, TryReturnsTheFirstFailure) {
  const Status status = fail(MPI_ERR_COUNT, "count");
  EXPECT_EQ(pass_on(status).code(), status.code());
  EXPECT_EQ(pass_on(Status()).error_class(), MPI_ERR_OTHER);
}

TEST(ErrorClasses, NamesStandWhereTheStandardPutsThem) {
  EXPECT_STREQ(name_of_class(MPI_ERR_TRUNCATE), "MPI_ERR_TRUNCATE");
  EXPECT_STREQ(name_of_class(MPI_ERR_WIN), "MPI_ERR_WIN");
  EXPECT_STREQ(name_of_class(MPI_ERR_RMA_SYNC), "MPI_ERR_RMA_SYNC");
  EXPECT_STREQ(name_of_class(MPI_T_ERR_CANNOT_INIT), "MPI_T_ERR_CANNOT_INIT");
  EXPECT_STREQ(name_of_class(MPI_T_ERR_INVALID_HANDLE), "MPI_T_ERR_INVALID_HANDLE");
  EXPECT_STREQ(name_of_class(MPI_T_ERR_PVAR_NO_ATOMIC), "MPI_T_ERR_PVAR_NO_ATOMIC");
  EXPECT_EQ(name_of_class(MPI_T_ERR_PVAR_NO_ATOMIC + 1), nullptr);
  EXPECT_EQ(name_of_class(-1), nullptr);
  EXPECT_EQ(name_of_class(MPI_ERR_ABI + 1), nullptr);
}

}  // namespace
}  // namespace clump::base
