#include "fiber/exploration.h"

#include <set>

#include "fiber/completion.h"
#include "fiber/test_exploration.h"

namespace clump::fiber {
namespace {

using namespace std::chrono_literals;

void take_three_turns(int fiber, std::string& text) {
  for (int turn = 0; turn < 3; ++turn) {
    exploration::may_lose_turn();
    text += static_cast<char>('a' + fiber);
  }
}

TEST(Exploration, RepeatsTheSameOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    EXPECT_EQ(ExploredRun::text(seed, 5, take_three_turns), ExploredRun::text(seed, 5, take_three_turns))
        << seed;
}

TEST(Exploration, FindsAllOrders) {
  std::set<std::string> orders;
  for (std::uint64_t seed = 1; seed <= 200 && orders.size() < 24; ++seed)
    orders.insert(ExploredRun::text(
        seed, 4, [](int fiber, std::string& text) { text += static_cast<char>('a' + fiber); }));
  EXPECT_EQ(orders.size(), 24u);
}

TEST(Exploration, LetsWhoIsPolledForRun) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    const std::string text = ExploredRun::text(seed, 3, [](int fiber, std::string& text) {
      if (fiber == 0) {
        text += '!';
        return;
      }
      while (text.find('!') == std::string::npos) yield();
      text += '.';
    });
    EXPECT_EQ(text, "!..") << seed;
  }
}

TEST(Exploration, SleepsByItsOwnClock) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string text = ExploredRun::text(seed, 3, [](int fiber, std::string& text) {
      const auto wake_at = now() + (3 - fiber) * 1h;
      sleep_until(wake_at);
      text += now() >= wake_at ? "y" : "n";
    });
    EXPECT_EQ(text, "yyy") << seed;
  }
}

TEST(Exploration, ResumesWhoWaits) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string text = ExploredRun::text(seed, 4, [](int fiber, std::string& text) {
      static Completion turns[5];
      if (fiber > 0) turns[fiber].wait();
      text += static_cast<char>('a' + fiber);
      turns[fiber + 1].signal();
    });
    EXPECT_EQ(text, "abcd") << seed;
  }
}

TEST(Exploration, DrawsAllThatThereIs) {
  std::set<std::string> all;
  for (std::uint64_t seed = 1; seed <= 400 && all.size() < 12; ++seed)
    all.insert(ExploredRun::text(seed, 1, [](int, std::string& text) {
      text += exploration::sends_early() ? 'e' : 'w';
      text += exploration::overlooks() ? 'o' : 's';
      text += static_cast<char>('0' + exploration::choose(3));
    }));
  EXPECT_EQ(all.size(), 12u);
}

}  // namespace
}  // namespace clump::fiber
