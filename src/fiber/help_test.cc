#include "fiber/help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfenv>
#include <memory>
#include <thread>
#include <vector>

#include "fiber/identity.h"

namespace clump::fiber {
namespace {

// Threads that do nothing but help, as waiting ones do.
class Helpers {
 public:
  /// `rank`: whose threads they are.
  explicit Helpers(int count, Identity* rank = nullptr) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back([this, rank] {
        if (rank != nullptr) adopt_identity(rank);
        while (!over_.load(std::memory_order_relaxed))
          if (help())
            came_.fetch_add(1, std::memory_order_relaxed);
          else
            std::this_thread::yield();
      });
    }
  }
  ~Helpers() {
    over_.store(true, std::memory_order_relaxed);
    for (auto& thread : threads_) thread.join();
  }
  int came() const { return came_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> over_{false};
  std::atomic<int> came_{0};
  std::vector<std::thread> threads_;
};

// Adds 1 to each number of its part; parts of different sizes, none atomic: a part that is done twice, or by
// two at once, shows in the sum or under TSan.
struct Increment {
  int* numbers;
  std::uint32_t per_part;
  void operator()(std::uint32_t part) const {
    for (std::uint32_t i = 0; i < per_part; ++i) ++numbers[part * per_part + i];
  }
};

TEST(HelpTest, NothingOfferedIsNothingDone) { EXPECT_FALSE(help()); }

TEST(HelpTest, OneThreadDoesItAlone) {
  for (const std::uint32_t parts : {0u, 1u, 2u, 3u, 100u}) {
    std::vector<int> numbers(parts * 4);
    do_together(parts, Increment{numbers.data(), 4});
    EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1), parts * 4);
    EXPECT_FALSE(help());
  }
}

TEST(HelpTest, MorePartsThanTicketsAreDoneAlone) {
  constexpr std::uint32_t kParts = kMostParts + 5;
  std::vector<int> numbers(kParts);
  do_together(kParts, Increment{numbers.data(), 1});
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 1), kParts);
}

TEST(HelpTest, ThoseWhoWaitCome) {
  const Helpers helpers(2);
  std::vector<int> numbers(64 * 1024);
  int rounds = 0;
  for (; rounds < 100'000 && helpers.came() < 100; ++rounds) do_together(64, Increment{numbers.data(), 1024});
  EXPECT_GE(helpers.came(), 100);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), rounds), 64 * 1024);
}

TEST(HelpTest, AThirdWorkersThreadsDoNotCome) {
  Identity side, third;
  side.home = 1;
  third.home = 2;
  const Helpers at_side(1, &side), at_third(1, &third), at_none(1);
  std::vector<int> numbers(64 * 1024);
  for (int rounds = 0; rounds < 100'000 && at_side.came() < 100; ++rounds)
    do_together(64, Increment{numbers.data(), 1024}, Computes::kNo, {0, 1});
  EXPECT_GE(at_side.came(), 100);
  EXPECT_EQ(at_third.came() + at_none.came(), 0);
}

// A helper computes as the owner does, and the owner meets what it has met.
TEST(HelpTest, HelpersComputeAsTheOwner) {
  struct State {
    std::thread::id owner;
    std::atomic<int> by_helpers{0}, upward{0};
  } state{std::this_thread::get_id()};
  struct Body {
    State* state;
    void operator()(std::uint32_t) const {
      const bool helps = std::this_thread::get_id() != state->owner;
      if (std::fegetround() == FE_UPWARD) state->upward.fetch_add(1);
      if (helps) {
        const volatile double zero = 0;
        const volatile double result = 1 / zero;
        static_cast<void>(result);
        state->by_helpers.fetch_add(1);
      }
    }
  };
  std::atomic<bool> over{false};
  std::thread helper([&] {
    std::feclearexcept(FE_ALL_EXCEPT);
    while (!over.load()) {
      if (!help()) std::this_thread::yield();
      ASSERT_EQ(std::fegetround(), FE_TONEAREST);
      ASSERT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
    }
  });
  std::fesetround(FE_UPWARD);
  std::feclearexcept(FE_ALL_EXCEPT);
  int parts = 0;
  for (; parts < 64 * 100'000 && state.by_helpers.load() == 0; parts += 64) {
    EXPECT_EQ(std::fetestexcept(FE_DIVBYZERO), 0);
    do_together(64, Body{&state});
  }
  EXPECT_GT(state.by_helpers.load(), 0);
  EXPECT_EQ(state.upward.load(), parts);
  EXPECT_NE(std::fetestexcept(FE_DIVBYZERO), 0);
  std::fesetround(FE_TONEAREST);
  std::feclearexcept(FE_ALL_EXCEPT);
  over = true;
  helper.join();
}

// A helper that holds a part and loses its core: nobody takes that part from it, all others are done
// meanwhile, and the owner stays until it is back.
TEST(HelpTest, TheOwnerWaitsForAHelpersPart) {
  struct State {
    std::thread::id owner;
    std::atomic<int> others{0};
    std::atomic<int> done{0};
  };
  struct Body {
    State* state;
    void operator()(std::uint32_t) const {
      const bool owner = std::this_thread::get_id() == state->owner;
      const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      if (owner) {  // until a helper is here
        while (state->others.load() == 0 && std::chrono::steady_clock::now() < deadline)
          std::this_thread::yield();
      } else if (state->others.fetch_add(1) == 0) {
        while (state->done.load() != 9 && std::chrono::steady_clock::now() < deadline)
          std::this_thread::yield();
      }
      state->done.fetch_add(1);
    }
  };
  const Helpers helpers(1);
  State state{.owner = std::this_thread::get_id()};
  do_together(10, Body{&state});
  EXPECT_EQ(state.done.load(), 10);
  EXPECT_GE(state.others.load(), 1);
}

// More owners than places on the board; they help each other in between.
TEST(HelpTest, ManyOwnersAndHelpers) {
  const Helpers helpers(4);
  std::vector<std::thread> owners;
  std::atomic<int> wrong{0};
  for (int owner = 0; owner < detail::kLoops + 4; ++owner) {
    owners.emplace_back([&wrong, owner] {
      constexpr int kRounds = 300;
      std::vector<int> numbers(40 * 64);
      for (int round = 1; round <= kRounds; ++round) {
        const auto parts = static_cast<std::uint32_t>((owner + round) % 40);
        std::fill(numbers.begin(), numbers.end(), round);
        do_together(parts, Increment{numbers.data(), 64});
        const auto done = std::count(numbers.begin(), numbers.begin() + parts * 64, round + 1);
        if (done != parts * 64 || std::count(numbers.begin(), numbers.end(), round) != (40 - parts) * 64)
          wrong.fetch_add(1);
        if (round % 3 == 0) help();
      }
    });
  }
  for (auto& owner : owners) owner.join();
  EXPECT_EQ(wrong.load(), 0);
  EXPECT_FALSE(help());
}

}  // namespace
}  // namespace clump::fiber
