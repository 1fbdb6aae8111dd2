#include "instruments/settings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/test_failure.h"
#include "coll/select/select.h"
#include "net/self/self_channel.h"
#include "p2p/matcher.h"

namespace clump::instruments {
namespace {

using base::failure;
using base::Failure;
using base::kNoFailure;

const Control& control(std::string_view name) {
  const auto found = std::ranges::find(controls(), name, &Control::name);
  EXPECT_NE(found, controls().end()) << name;
  return *found;
}

class Settings : public testing::Test {
 protected:
  Settings() {
    world_.launch.size = 1;
    rank_ = std::make_unique<core::Rank>(world_, world_.launch, 0);
    rank_->inbox = std::make_unique<p2p::Matcher>();
    world_.channels.push_back(
        std::make_unique<net::SelfChannel>(std::vector<net::Sink*>{rank_->inbox.get()}));
  }
  template <typename Value>
  Value get(std::string_view name) {
    Value value{};
    instruments::get(*rank_, control(name), &value);
    return value;
  }
  template <typename Value>
  int set(std::string_view name, Value value) {
    return instruments::set(*rank_, control(name), &value).error_class();
  }
  Failure set_from(const std::vector<std::string>& environment) {
    return failure(instruments::set_from(environment, *rank_));
  }
  /// The first item of a control that is not what it has now.
  const Enumeration::Item& another_item(std::string_view name) {
    const int now = get<int>(name);
    return *std::ranges::find_if(control(name).enumeration->items,
                                 [now](const Enumeration::Item& item) { return item.value != now; });
  }

  core::World world_;
  std::unique_ptr<core::Rank> rank_;
};

TEST_F(Settings, SizesAreThoseOfTheRank) {
  EXPECT_EQ(set("eager_limit", Count{12345}), MPI_SUCCESS);
  EXPECT_EQ(rank_->eager_limit, 12345);
  EXPECT_EQ(get<Count>("eager_limit"), 12345);
  EXPECT_EQ(set("unexpected_limit", Count{1} << 21), MPI_SUCCESS);
  EXPECT_EQ(p2p::matcher_of(*rank_).bound(), Count{1} << 21);
  EXPECT_EQ(get<Count>("unexpected_limit"), Count{1} << 21);
  EXPECT_EQ(set("lane_limit", Count{17}), MPI_SUCCESS);
  EXPECT_EQ(world_.channels.front()->lane_limit(), 17);
  EXPECT_EQ(get<Count>("lane_limit"), 17);
  EXPECT_EQ(get<Count>("eager_limit"), 12345);
}

TEST_F(Settings, SizesHaveBounds) {
  for (const Control& one : controls()) {
    if (!one.can_be_set() || one.type != MPI_COUNT) continue;
    for (const Count right : {one.least, one.most}) {
      EXPECT_EQ(set(one.name, right), MPI_SUCCESS) << one.name;
      EXPECT_EQ(get<Count>(one.name), right) << one.name;
    }
    for (const Count wrong : {one.least - 1, one.most + 1, INT64_MIN, INT64_MAX}) {
      EXPECT_EQ(set(one.name, wrong), MPI_T_ERR_INVALID) << one.name;
      EXPECT_EQ(get<Count>(one.name), one.most) << one.name << ": what is refused changes nothing";
    }
  }
}

TEST_F(Settings, ItemsAreThoseOfTheirEnumeration) {
  EXPECT_EQ(set("reductions", 1), MPI_SUCCESS);
  EXPECT_TRUE(rank_->collectives.reproducible);
  EXPECT_EQ(get<int>("reductions"), 1);
  EXPECT_EQ(set("reductions", 2), MPI_T_ERR_INVALID);
  EXPECT_EQ(set("reductions", -1), MPI_T_ERR_INVALID);
  EXPECT_EQ(get<int>("reductions"), 1);
  EXPECT_EQ(set("check", 1), MPI_SUCCESS);
  EXPECT_TRUE(rank_->collectives.checked);
  EXPECT_EQ(set("check", 0), MPI_SUCCESS);
  EXPECT_FALSE(rank_->collectives.checked);
}

TEST_F(Settings, EachCollectiveHasItsOwnAlgorithm) {
  const Enumeration::Item& item = another_item("allreduce_algorithm");
  EXPECT_EQ(set("allreduce_algorithm", item.value), MPI_SUCCESS);
  EXPECT_EQ(get<int>("allreduce_algorithm"), item.value);
  const auto allreduce = static_cast<std::size_t>(coll::Collective::kAllreduce);
  for (std::size_t i = 0; i < core::CollectiveChoices::kCollectives; ++i)
    EXPECT_EQ(rank_->collectives.wanted[i], i == allreduce ? item.value : 0) << i;
}

TEST_F(Settings, WhatIsConstantCannotBeSet) {
  int constants = 0;
  for (const Control& one : controls()) {
    if (one.can_be_set()) continue;
    ++constants;
    EXPECT_EQ(set(one.name, Count{0}), MPI_T_ERR_CVAR_SET_NEVER) << one.name;
    EXPECT_EQ(set_from({one.environment() + "=1"}), kNoFailure) << one.name << " of others, or mpiexec's";
  }
  EXPECT_GT(constants, 3);
}

TEST_F(Settings, TheVersionIsAText) {
  const Control& version = control("version");
  std::vector<char> text(static_cast<std::size_t>(elements_of(version)), 'x');
  instruments::get(*rank_, version, text.data());
  EXPECT_TRUE(std::string_view(text.data()).starts_with("Clump ")) << text.data();
  EXPECT_EQ(std::string_view(text.data()).size() + 1, text.size());
  EXPECT_EQ(elements_of(control("eager_limit")), 1);
}

TEST_F(Settings, TheEnvironmentHasSizesWithUnits) {
  for (const auto& [text, bytes] : std::vector<std::pair<std::string, Count>>{
           {"0", 0}, {"4096", 4096}, {"16k", 16 << 10}, {"3K", 3 << 10}, {"1m", 1 << 20}, {"1M", 1 << 20}}) {
    EXPECT_EQ(set_from({"CLUMP_EAGER_LIMIT=" + text}), kNoFailure);
    EXPECT_EQ(rank_->eager_limit, bytes) << text;
  }
}

TEST_F(Settings, AWrongSizeInTheEnvironmentIsNamed) {
  rank_->eager_limit = 77;
  for (const char* const text : {"x", "-1", "1g", "1kb", "k", "16 k", " 16", "1.5k", "1048577", "2m", "1025k",
                                 "9223372036854775807", "9223372036854775808", "1099511627777k"})
    EXPECT_EQ(set_from({std::string("CLUMP_EAGER_LIMIT=") + text}),
              (Failure{MPI_ERR_ARG, std::string("environment variable CLUMP_EAGER_LIMIT is '") + text +
                                        "': it is a number of bytes from 0 to 1048576"}));
  EXPECT_EQ(rank_->eager_limit, 77);
}

TEST_F(Settings, TheEnvironmentHasNamesOfItems) {
  const Enumeration::Item& item = another_item("broadcast_algorithm");
  EXPECT_EQ(set_from({"HOME=/root", "CLUMP_BROADCAST_ALGORITHM=" + item.name, "CLUMP_UNKNOWN=7",
                      "CLUMP_REDUCTIONS="}),
            kNoFailure);
  EXPECT_EQ(get<int>("broadcast_algorithm"), item.value);
  const Failure told = set_from({"CLUMP_BROADCAST_ALGORITHM=fastest"});
  EXPECT_EQ(told.error_class, MPI_ERR_ARG);
  EXPECT_TRUE(told.text.starts_with(
      "environment variable CLUMP_BROADCAST_ALGORITHM is 'fastest': there is automatic, "))
      << told.text;
  EXPECT_NE(told.text.find(item.name), std::string::npos) << told.text;
  EXPECT_EQ(set_from({"CLUMP_REDUCTIONS=1"}).error_class, MPI_ERR_ARG) << "a number is no name";
}

TEST_F(Settings, ChecksAreThoseOfTheEnvironment) {
  EXPECT_EQ(checks_from({}), core::Checks::kNone);
  EXPECT_EQ(checks_from({"CLUMP_CHECK=off"}), core::Checks::kNone);
  EXPECT_NE(checks_from({"A=1", "CLUMP_CHECK=on"}), core::Checks::kNone);
  EXPECT_EQ(checks_from({"CLUMP_CHECK=error"}), core::Checks::kFail);
  EXPECT_EQ(checks_from({"CLUMP_CHECK=maybe"}), core::Checks::kNone);
  EXPECT_EQ(set_from({"CLUMP_CHECK=maybe"}),
            (Failure{MPI_ERR_ARG, "environment variable CLUMP_CHECK is 'maybe': there is off, on, error"}));
}

}  // namespace
}  // namespace clump::instruments
