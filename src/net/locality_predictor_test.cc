#include "net/locality_predictor.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <utility>

namespace clump::net {
namespace {

using std::chrono::nanoseconds;

constexpr Count kBytes = 64 * 1024;

/// A program that sends messages of one size, and the time that passes with each.
struct Program {
  LocalityPredictor predictor;
  LocalityPredictor::Time time;
  nanoseconds staged{8000}, together{8000};
  int looks = 0;

  /// Sends messages, and returns how many of them went through staging buffers.
  int send(int messages, nanoseconds pause = {}, int messages_per_pause = 1) {
    int in_staging = 0;
    for (int i = 0; i < messages; ++i) {
      const bool is_staged = predictor.wants_staging(kBytes, [this] {
        ++looks;
        return time;
      });
      in_staging += is_staged ? 1 : 0;
      time += is_staged ? staged : together;
      if (i % messages_per_pause == 0) time += pause;
    }
    return in_staging;
  }
};

// Enough for the first trial, and how many of these go the other way if it comes to its end.
constexpr int kTrial = LocalityPredictor::kSettling + LocalityPredictor::kWindows * LocalityPredictor::kWindow;
constexpr int kFirst = LocalityPredictor::kSettling + kTrial + kTrial;

TEST(LocalityPredictor, CopiesTogetherFirst) {
  Program program;
  EXPECT_EQ(program.send(LocalityPredictor::kSettling), 0);
}

TEST(LocalityPredictor, CopiesTogetherWhereThatIsFaster) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  program.send(kFirst);
  EXPECT_LT(program.send(100'000), 2000);
}

TEST(LocalityPredictor, StagesWhereThatIsFaster) {
  Program program{.staged = nanoseconds(23'000), .together = nanoseconds(45'000)};
  program.send(kFirst);
  EXPECT_GT(program.send(100'000), 98'000);
}

TEST(LocalityPredictor, StagesWhereItMakesNoClearDifference) {
  for (const int together : {23'000, 22'000}) {
    Program program{.staged = nanoseconds(23'000), .together = nanoseconds(together)};
    program.send(kFirst);
    EXPECT_GT(program.send(100'000), 98'000) << together;
  }
}

TEST(LocalityPredictor, FollowsAProgramThatChanges) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  program.send(200'000);
  program.together = nanoseconds(16'000);  // it touches its data from now on
  program.send(LocalityPredictor::kMostRest / 4);
  EXPECT_GT(program.send(10'000), 9000);
  program.together = nanoseconds(2300);
  program.send(2 * LocalityPredictor::kMostRest);
  EXPECT_LT(program.send(10'000), 1000);
}

TEST(LocalityPredictor, TriesSeldomWhatStaysSlower) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  program.send(100'000);
  EXPECT_LT(program.send(100'000), 1000);
}

// Each window takes another time, and so each looks like a change.
TEST(LocalityPredictor, DoesNotTryAllTheTimeWhereNoTimeIsUsual) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(16'000)};
  program.send(50'000);
  int staged = 0;
  for (int i = 0; i < 100; ++i) {
    program.staged = nanoseconds(i % 2 == 0 ? 8000 : 12'000);
    program.together = 2 * program.staged;
    staged += program.send(1000);
  }
  EXPECT_GT(staged, 95'000);
}

/// Which part of the messages goes the slower way, if each takes `factor(random)` times as long.
template <typename Factor>
double part_in_slower_way(int staged, int together, Factor factor) {
  constexpr int kMessages = 60'000, kSeeds = 6;
  int slower = 0;
  for (unsigned seed = 1; seed <= kSeeds; ++seed) {
    std::minstd_rand random(seed * 97);
    Program program;
    for (int i = 0; i < kMessages; ++i) {
      const int times = factor(random);
      program.staged = nanoseconds(staged * times);
      program.together = nanoseconds(together * times);
      slower += (program.send(1) == 1) == (staged > together) ? 1 : 0;
    }
  }
  return slower / double{kMessages * kSeeds};
}

// Seeded, so it comes to the same each time.
TEST(LocalityPredictor, IsSeldomWrongWhereTimesScatter) {
  for (const auto& [staged, together] : {std::pair{8000, 16'000}, std::pair{16'000, 8000}}) {
    int spell = 1;  // for 200 messages on average all take three times as long
    const auto spells = [&](auto& random) { return random() % 200 == 0 ? spell = 4 - spell : spell; };
    EXPECT_LT(part_in_slower_way(staged, together, spells), 0.05) << staged;
    const auto outliers = [](auto& random) { return random() % 30 == 0 ? 20 : 1; };
    EXPECT_LT(part_in_slower_way(staged, together, outliers), 0.05) << staged;
  }
}

// A pause in some of the windows says nothing of the messages.
TEST(LocalityPredictor, PausesOfTheProgramDoNotCount) {
  constexpr int kSeldom = 2 * LocalityPredictor::kWindow + 1;
  Program fast{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  fast.send(kFirst, std::chrono::milliseconds(1), kSeldom);
  EXPECT_LT(fast.send(100'000, std::chrono::milliseconds(1), kSeldom), 10'000);
  Program slow{.staged = nanoseconds(8000), .together = nanoseconds(16'000)};
  slow.send(kFirst, std::chrono::milliseconds(1), kSeldom);
  EXPECT_GT(slow.send(100'000, std::chrono::milliseconds(1), kSeldom), 90'000);
}

TEST(LocalityPredictor, ReadsTheClockSeldom) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  program.send(100'000);
  const int before = program.looks;
  program.send(100'000);
  EXPECT_LT(program.looks - before, 2000);
}

// The count of messages goes around after 16 million, that of bytes after a terabyte.
TEST(LocalityPredictor, GoesOnWhenItsCountsGoAround) {
  Program program{.staged = nanoseconds(8000), .together = nanoseconds(2300)};
  program.send(20'000'000);
  program.together = nanoseconds(16'000);
  program.send(2 * LocalityPredictor::kMostRest);
  EXPECT_GT(program.send(10'000), 9000);
}

TEST(LocalityPredictor, TwoSendersAtATime) {
  LocalityPredictor predictor;
  const auto send = [&] {
    for (int i = 0; i < 100'000; ++i)
      predictor.wants_staging(kBytes, [] { return std::chrono::steady_clock::now(); });
  };
  std::thread other(send);
  send();
  other.join();
  // It still learns.
  int staged = 0;
  LocalityPredictor::Time time = std::chrono::steady_clock::now() + std::chrono::hours(1);
  for (int i = 0; i < 100'000; ++i) {
    const bool is_staged = predictor.wants_staging(kBytes, [&] { return time; });
    time += is_staged ? nanoseconds(8000) : nanoseconds(2300);
    if (i >= 50'000 && is_staged) ++staged;
  }
  EXPECT_LT(staged, 2000);
}

}  // namespace
}  // namespace clump::net
