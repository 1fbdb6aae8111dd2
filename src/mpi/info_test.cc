#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/test_failure.h"
#include "core/rank.h"
#include "mpi/bodies.h"

namespace clump::mpi {
namespace {

using base::failure;
using base::Failure;
using base::kNoFailure;

class InfoCalls : public testing::Test {
 protected:
  InfoCalls() {
    world_.launch.size = 1;
    world_.launch.app_numbers = {0};
    world_.launch.environments.resize(1);
    world_.launch.environments.front().handle = MPI_INFO_ENV;
    world_.launch.environments.front().set("command", "run");
    EXPECT_EQ(failure(info_create(rank_, &handle_)), kNoFailure);
  }
  core::Info& info() { return *rank_.info(handle_); }
  Failure set(const std::string& key, const std::string& value) {
    return failure(info_set(rank_, info(), key.c_str(), value.c_str()));
  }
  /// What MPI_Info_get_string does with so much room: its text, what is behind it, and the length that it
  /// tells.
  Failure get(const std::string& key, int room) {
    text_.assign(20, '#');
    length_ = room;
    return failure(info_get_string(rank_, info(), key.c_str(), &length_, text_.data(), &flag_));
  }

  core::World world_;
  core::Rank rank_{world_, world_.launch, 0};
  MPI_Info handle_ = MPI_INFO_NULL;
  std::string text_;
  int length_ = 0, flag_ = -1;
};

TEST_F(InfoCalls, KeysHaveOneToTheMostCharacters) {
  EXPECT_EQ(set("k", ""), kNoFailure);
  EXPECT_EQ(set(std::string(MPI_MAX_INFO_KEY - 1, 'k'), "v"), kNoFailure);
  const std::string most = std::to_string(MPI_MAX_INFO_KEY - 1);
  const Failure too_long{MPI_ERR_INFO_KEY,
                         "key is longer than MPI_MAX_INFO_KEY - 1 = " + most + " characters"};
  const std::string long_key(MPI_MAX_INFO_KEY, 'k');
  EXPECT_EQ(set(long_key, "v"), too_long);
  EXPECT_EQ(set("", "v"), (Failure{MPI_ERR_INFO_KEY, "key is empty"}));
  EXPECT_EQ(get(long_key, 5), too_long);
  EXPECT_EQ(failure(info_delete(rank_, info(), long_key.c_str())), too_long);
  EXPECT_EQ(failure(info_get_valuelen(rank_, info(), "", &length_, &flag_)).error_class, MPI_ERR_INFO_KEY);
  EXPECT_EQ(info().entries().size(), 2u);
}

TEST_F(InfoCalls, ValuesHaveNoMoreThanTheMostCharacters) {
  EXPECT_EQ(set("k", std::string(MPI_MAX_INFO_VAL - 1, 'v')), kNoFailure);
  EXPECT_EQ(set("k", std::string(MPI_MAX_INFO_VAL, 'v')),
            (Failure{MPI_ERR_INFO_VALUE, "value is longer than MPI_MAX_INFO_VAL - 1 = " +
                                             std::to_string(MPI_MAX_INFO_VAL - 1) + " characters"}));
  EXPECT_EQ(info().get("k")->size(), std::size_t{MPI_MAX_INFO_VAL - 1}) << "what is refused changes nothing";
}

TEST_F(InfoCalls, StringsAreCutToTheRoomAndToldWhole) {
  ASSERT_EQ(set("k", "value"), kNoFailure);
  for (const auto& [room, text] : {std::pair{20, "value"}, {6, "value"}, {5, "valu"}, {2, "v"}, {1, ""}}) {
    EXPECT_EQ(get("k", room), kNoFailure);
    EXPECT_STREQ(text_.c_str(), text) << room;
    EXPECT_EQ(text_[std::string_view(text).size() + 1], '#') << "nothing is written behind the zero";
    EXPECT_EQ(length_, 6) << "what there has to be room for";
    EXPECT_EQ(flag_, 1);
  }
  EXPECT_EQ(get("k", 0), kNoFailure);
  EXPECT_EQ(text_, std::string(20, '#'));
  EXPECT_EQ(length_, 6);
  EXPECT_EQ(get("none", 7), kNoFailure);
  EXPECT_EQ(flag_, 0);
  EXPECT_EQ(length_, 7) << "stays as it is";
  EXPECT_EQ(get("k", -1), (Failure{MPI_ERR_ARG, "buflen is -1"}));
  length_ = 5;
  EXPECT_EQ(failure(info_get_string(rank_, info(), "k", &length_, nullptr, &flag_)),
            (Failure{MPI_ERR_ARG, "(value = NULL): room for 5 characters is needed here"}));
}

TEST_F(InfoCalls, TheOldCallLeavesTheZeroOut) {
  ASSERT_EQ(set("k", "value"), kNoFailure);
  for (const auto& [room, text] : {std::pair{19, "value"}, {5, "value"}, {4, "valu"}, {0, ""}}) {
    text_.assign(20, '#');
    EXPECT_EQ(failure(info_get(rank_, info(), "k", room, text_.data(), &flag_)), kNoFailure);
    EXPECT_STREQ(text_.c_str(), text) << room;
  }
  EXPECT_EQ(failure(info_get_valuelen(rank_, info(), "k", &length_, &flag_)), kNoFailure);
  EXPECT_EQ(length_, 5);
  EXPECT_EQ(failure(info_get(rank_, info(), "k", -3, text_.data(), &flag_)),
            (Failure{MPI_ERR_ARG, "valuelen is -3"}));
}

TEST_F(InfoCalls, KeysAreNumberedAsTheyWereSet) {
  char key[MPI_MAX_INFO_KEY];
  ASSERT_EQ(set("b", "1"), kNoFailure);
  ASSERT_EQ(set("a", "2"), kNoFailure);
  ASSERT_EQ(set("b", "3"), kNoFailure);
  EXPECT_EQ(failure(info_get_nkeys(rank_, info(), &length_)), kNoFailure);
  EXPECT_EQ(length_, 2);
  EXPECT_EQ(failure(info_get_nthkey(rank_, info(), 0, key)), kNoFailure);
  EXPECT_STREQ(key, "b");
  EXPECT_EQ(failure(info_get_nthkey(rank_, info(), 1, key)), kNoFailure);
  EXPECT_STREQ(key, "a");
  for (const int n : {-1, 2})
    EXPECT_EQ(failure(info_get_nthkey(rank_, info(), n, key)),
              (Failure{MPI_ERR_ARG, "n is " + std::to_string(n) + ", but info has 2 keys"}));
  EXPECT_EQ(failure(info_delete(rank_, info(), "b")), kNoFailure);
  EXPECT_EQ(failure(info_delete(rank_, info(), "b")), (Failure{MPI_ERR_INFO_NOKEY, "info has no key \"b\""}));
}

TEST_F(InfoCalls, ACopyIsAnObjectOfItsOwn) {
  ASSERT_EQ(set("k", "1"), kNoFailure);
  MPI_Info copy = MPI_INFO_NULL;
  EXPECT_EQ(failure(info_dup(rank_, info(), &copy)), kNoFailure);
  ASSERT_EQ(set("k", "2"), kNoFailure);
  EXPECT_EQ(*rank_.info(copy)->get("k"), "1");
  EXPECT_EQ(failure(info_create_env(rank_, 0, nullptr, &copy)), kNoFailure);
  EXPECT_EQ(failure(info_set(rank_, *rank_.info(copy), "command", "other")), kNoFailure)
      << "this one can be changed";
  EXPECT_EQ(*rank_.info(MPI_INFO_ENV)->get("command"), "run");
}

TEST_F(InfoCalls, AnObjectIsFreedOnce) {
  MPI_Info freed = handle_;
  EXPECT_EQ(failure(info_free(rank_, &handle_)), kNoFailure);
  EXPECT_EQ(handle_, MPI_INFO_NULL);
  const Failure none{MPI_ERR_INFO, "info is null, was freed, or never was an info object"};
  EXPECT_EQ(failure(info_free(rank_, &freed)), none);
  EXPECT_EQ(failure(info_free(rank_, &handle_)), none);
}

TEST_F(InfoCalls, WhatTheRankWasStartedWithStays) {
  MPI_Info own = MPI_INFO_ENV;
  const Failure told{MPI_ERR_INFO, "info is MPI_INFO_ENV, which cannot be changed or freed"};
  EXPECT_EQ(failure(info_set(rank_, *rank_.info(own), "k", "v")), told);
  EXPECT_EQ(failure(info_delete(rank_, *rank_.info(own), "command")), told);
  EXPECT_EQ(failure(info_free(rank_, &own)), told);
  EXPECT_EQ(own, MPI_INFO_ENV);
}

}  // namespace
}  // namespace clump::mpi
