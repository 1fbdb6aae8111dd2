#include "fiber/exploration.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <vector>

#include "fiber/worker.h"

namespace clump::fiber::exploration {

namespace {

using Time = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

/// The time that a step takes, for callers that look at the clock.
constexpr Time::duration kStep = std::chrono::microseconds(1);

/// SplitMix64: it gives good results also for seeds that are small consecutive numbers.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}

  std::uint64_t roll() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  std::size_t below(std::size_t count) { return roll() % count; }
  /// True `odds` times out of kAlways.
  bool draw(unsigned odds) { return roll() % kAlways < odds; }
  static constexpr unsigned kAlways = 256;

  template <std::size_t Count>
  unsigned one_of(const std::array<unsigned, Count>& all) {
    return all[below(Count)];
  }

 private:
  std::uint64_t state_;
};

/// The parameters by which a run as a whole differs from others. Bugs need different circumstances: one shows
/// only if messages are slow, another one only if a certain rank is hardly ever interrupted.
struct Habits {
  explicit Habits(Dice& dice)
      : by_priority(dice.draw(Dice::kAlways / 2)),
        loses_turn(dice.one_of<4>({8, 32, 96, 192})),
        sends_early(dice.one_of<4>({Dice::kAlways, Dice::kAlways, 160, 0})),
        overlooks(dice.one_of<4>({0, 16, 96, 192})),
        sleeps_shortly(dice.one_of<3>({0, 64, 160})) {}

  bool by_priority;         ///< the fiber or mover with the highest priority runs next; otherwise any
  unsigned loses_turn;      ///< the odds that a fiber loses its turn, at each call of MPI
  unsigned sends_early;     ///< the odds that a small message is sent early
  unsigned overlooks;       ///< the odds that a look finds nothing
  unsigned sleeps_shortly;  ///< the odds that a sleep is as short as if the other ranks had been slow
};

}  // namespace

constinit bool is_on = false;

class Explorer {
 public:
  Explorer(std::uint64_t seed, int fibers)
      : dice(seed), habits(dice), missing_(static_cast<std::size_t>(fibers)) {
    // Probabilistic concurrency testing (Burckhardt and others, 2010): random priorities, which change at a
    // few random steps, find bugs that need few events in a certain order. The number of steps is not known
    // in advance, so its order of magnitude is drawn, too.
    if (!habits.by_priority) return;
    const std::size_t steps = std::size_t{16} << dice.below(11);
    for (std::size_t left = dice.below(5); left > 0; --left) changes_.push_back(dice.below(steps));
  }

  Fiber* next(Worker& worker) {
    gather(worker);
    if (!all_are_there()) return nullptr;
    for (;;) {
      wake_sleepers();
      if (runnable_.empty() && movers_.empty()) {
        if (sleepers_.empty()) return nullptr;
        advance(std::ranges::min(sleepers_, {}, &Fiber::wake_at)->wake_at);
        continue;
      }
      now();
      const std::size_t chosen = pick();
      if (chosen < runnable_.size()) return take(runnable_, chosen);
      if (const std::size_t i = chosen - runnable_.size(); !movers_[i]->step()) take(movers_, i);
      gather(worker);
    }
  }

  void add(Mover& mover) {
    if (mover.priority_ == 0) mover.priority_ = new_priority();
    movers_.push_back(&mover);
  }

  void lower(Fiber& fiber) { fiber.priority = --lowest_; }

  void add_sleeper(Fiber& fiber) { sleepers_.push_back(&fiber); }

  /// The time, one step later. Any thread: threads of ranks may look at the clock.
  Time now() {
    return Time(Time::duration(clock_.fetch_add(kStep.count(), std::memory_order_relaxed))) + kStep;
  }
  void advance(Time time) {
    const Time::duration::rep left = (time - clock()).count();
    if (left > 0) clock_.fetch_add(left, std::memory_order_relaxed);
  }

  Dice dice;
  const Habits habits;

 private:
  template <typename Entry>
  static Entry* take(std::vector<Entry*>& all, std::size_t i) {
    Entry* const taken = all[i];
    all[i] = all.back();
    all.pop_back();
    return taken;
  }

  Time clock() const { return Time(Time::duration(clock_.load(std::memory_order_relaxed))); }

  /// Takes all fibers that can run from the worker's inbox and queue.
  void gather(Worker& worker) {
    worker.empty_inbox();
    while (Fiber* const fiber = worker.queue.pop()) runnable_.push_back(fiber);
  }

  /// Whether all fibers have come. At the start kernel threads bring them, in any order.
  bool all_are_there() {
    if (missing_ == 0) return true;
    if (runnable_.size() < missing_) return false;
    missing_ = 0;
    std::ranges::sort(runnable_, {}, [](const Fiber* fiber) { return fiber->rank->rank; });
    for (Fiber* const fiber : runnable_) fiber->priority = new_priority();
    return true;
  }

  void wake_sleepers() {
    const auto sleeps = [time = clock()](const Fiber* fiber) { return fiber->wake_at > time; };
    const auto awake = std::stable_partition(sleepers_.begin(), sleepers_.end(), sleeps);
    runnable_.insert(runnable_.end(), awake, sleepers_.end());
    sleepers_.erase(awake, sleepers_.end());
  }

  /// Chooses what runs next: the index of a fiber, or behind these of a mover.
  std::size_t pick() {
    const std::size_t count = runnable_.size() + movers_.size();
    if (!habits.by_priority) return dice.below(count);
    const bool changes = std::ranges::find(changes_, steps_++) != changes_.end();
    if (changes) priority_of(highest()) = --lowest_;
    return highest();
  }

  std::uint64_t& priority_of(std::size_t i) {
    return i < runnable_.size() ? runnable_[i]->priority : movers_[i - runnable_.size()]->priority_;
  }
  std::size_t highest() {
    std::size_t best = 0;
    for (std::size_t i = 1, count = runnable_.size() + movers_.size(); i < count; ++i)
      if (priority_of(i) > priority_of(best)) best = i;
    return best;
  }
  /// A random priority above all that were lowered.
  std::uint64_t new_priority() { return kLowered + dice.roll() / 2; }

  static constexpr std::uint64_t kLowered = std::uint64_t{1} << 62;

  std::size_t missing_;  // how many fibers have not come yet
  std::vector<Fiber*> runnable_;
  std::vector<Mover*> movers_;  // those with something to do
  std::vector<Fiber*> sleepers_;
  std::vector<std::size_t>
      changes_;  // at these steps, counted from 0, the highest priority becomes the lowest
  std::size_t steps_ = 0;
  std::uint64_t lowest_ = kLowered;
  // The start of the clock does not matter; it is as if the machine had been on for a while.
  std::atomic<Time::duration::rep> clock_{Time::duration(1h).count()};
};

namespace {

Explorer* explorer = nullptr;  // stays until the process ends

/// Lets the drawn fiber run next, which may be `self`.
void take_turns(Fiber& self) {
  make_runnable(self);
  switch_out(self);
}

}  // namespace

void begin(std::uint64_t seed, int fibers) {
  explorer = new Explorer(seed, fibers);
  is_on = true;
}

void add(Mover& mover) { explorer->add(mover); }
std::size_t choose(std::size_t count) { return explorer->dice.below(count); }
bool sends_early() { return explorer->dice.draw(explorer->habits.sends_early); }
bool overlooks() { return explorer->dice.draw(explorer->habits.overlooks); }
Time now() { return explorer->now(); }
Fiber* next(Worker& worker) { return explorer->next(worker); }

void may_lose_turn() {
  Fiber* const self = this_fiber();
  if (explorer->habits.by_priority || explorer->dice.draw(explorer->habits.loses_turn)) take_turns(*self);
}

void step_aside(Fiber& self) {
  explorer->lower(self);
  take_turns(self);
}

void sleep_until(Fiber& self, Time when) {
  if (explorer->dice.draw(explorer->habits.sleeps_shortly)) explorer->advance(when);
  self.wake_at = when;
  explorer->add_sleeper(self);
  switch_out(self);
}

}  // namespace clump::fiber::exploration
