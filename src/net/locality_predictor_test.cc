#include "net/locality_predictor.h"

#include <gtest/gtest.h>

namespace clump::net {
namespace {

using std::chrono::nanoseconds;

constexpr Count kBytes = 50'000;
constexpr nanoseconds kFastTime{kBytes / LocalityPredictor::kFast},
    kSlowTime{kBytes / LocalityPredictor::kFast + 1};

TEST(LocalityPredictor, IsToCopyTogetherAsLongAsThatIsFast) {
  LocalityPredictor predictor;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(predictor.wants_staging());
    predictor.copied_together(kBytes, kFastTime);
  }
}

TEST(LocalityPredictor, SlowCopiesInARowAreFollowedByCrates) {
  LocalityPredictor predictor;
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < LocalityPredictor::kTries; ++i) {
      EXPECT_FALSE(predictor.wants_staging());
      predictor.copied_together(kBytes, kSlowTime);
    }
    for (int i = 0; i < LocalityPredictor::kStagedInARow; ++i) EXPECT_TRUE(predictor.wants_staging());
  }
}

TEST(LocalityPredictor, ASlowOneNowAndThenChangesNothing) {
  LocalityPredictor predictor;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_FALSE(predictor.wants_staging());
    predictor.copied_together(kBytes, i % LocalityPredictor::kTries == 0 ? kFastTime : kSlowTime);
  }
}

}  // namespace
}  // namespace clump::net
