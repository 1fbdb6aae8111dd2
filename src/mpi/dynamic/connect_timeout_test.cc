#include "mpi/dynamic/connect_timeout.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "base/test_failure.h"

namespace clump::mpi {
namespace {

base::Failure outcome_of(const std::string& text, double& seconds) {
  core::Info info;
  info.set("timeout", text);
  return base::failure(read_timeout(&info, seconds));
}

TEST(ConnectTimeout, IsWithoutEndUnlessTheKeyIsThere) {
  double seconds = 5;
  EXPECT_EQ(base::failure(read_timeout(nullptr, seconds)), base::kNoFailure);
  EXPECT_LT(seconds, 0);
  seconds = 5;
  core::Info other;
  other.set("Timeout", "3");
  EXPECT_EQ(base::failure(read_timeout(&other, seconds)), base::kNoFailure);
  EXPECT_LT(seconds, 0);
}

TEST(ConnectTimeout, IsANumberOfSeconds) {
  for (const auto& [text, expected] : {std::pair{"0", 0.0}, {"3", 3.0}, {"0.25", 0.25}, {"1e3", 1000.0}}) {
    double seconds = -7;
    EXPECT_EQ(outcome_of(text, seconds), base::kNoFailure) << text;
    EXPECT_EQ(seconds, expected);
  }
}

TEST(ConnectTimeout, HasNoOtherValue) {
  for (const char* const text : {"", "-1", "-0.001", "3s", "3 ", "3,5", "nan", "inf", "1e999", "soon"}) {
    double seconds = 0;
    EXPECT_EQ(outcome_of(text, seconds),
              (base::Failure{MPI_ERR_INFO_VALUE, std::string("(info): timeout = \"") + text +
                                                     "\": a number of seconds is needed, 0 or more"}));
  }
}

}  // namespace
}  // namespace clump::mpi
