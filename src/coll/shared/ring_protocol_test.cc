// The broadcast ring: in all orders of its operations, for a few broadcasts; and by threads, for many. With
// the ranks and the collectives around it, it is tested in team_test.cc.
#include "coll/shared/ring_protocol.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <initializer_list>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coll/shared/test_interleavings.h"
#include "fiber/completion.h"

namespace clump::coll {
namespace {

/// Where a rank is, for ModelWords::forget_before().
enum Place { kMayWrite, kMayRead, kFinishes, kYields, kPolls, kWaits, kAtGroup, kAtMember };

/// An Owner. `Words` says what its words are, and how a rank waits.
template <typename Words, int kSlotsOfBatch>
struct Ring {
  template <typename T>
  using Atomic = typename Words::template Atomic<T>;
  struct LocalGroup;
  struct ArgumentSlot {
    Atomic<std::uint64_t> read{0};
    Atomic<ArgumentSlot*> follower{nullptr};
    Atomic<std::uint64_t> awaits{0};
    typename Words::Completion released;
    LocalGroup* group = nullptr;
  };
  struct LocalGroup {
    Atomic<int> pollers{0}, asleep{0};
    typename Words::template Each<ArgumentSlot*, kAtMember> members;
  };
  struct RingSlot {
    Atomic<std::uint64_t> number{0};
    typename Words::Data data;
  };
  using Waiting = typename Words::Waiting;
  using Protocol = RingProtocol<Ring>;
  static constexpr int kBatch = kSlotsOfBatch, kRingSlots = 2 * kBatch;

  /// Ranks in groups, by rank.
  explicit Ring(const std::vector<int>& groups)
      : size_(static_cast<int>(groups.size())),
        group_count_(*std::max_element(groups.begin(), groups.end()) + 1),
        slots_(std::make_unique<ArgumentSlot[]>(groups.size())),
        groups_(static_cast<std::size_t>(group_count_)),
        ring_(std::make_unique<RingSlot[]>(kRingSlots)) {
    for (int rank = 0; rank < size_; ++rank) {
      slots_[rank].group = &groups_[groups[rank]];
      slots_[rank].group->members.push_back(&slots_[rank]);
    }
  }

  /// The number-th broadcast as `rank` calls it. `right(bool, text)` is told what was found.
  template <typename Right>
  void broadcast(int rank, int root, std::uint64_t number, Right right) {
    ArgumentSlot& me = slots_[rank];
    RingSlot& slot = ring_[number % kRingSlots];
    if (rank == root) {
      const auto write = [&] {
        Words::forget_before({kMayWrite});
        slot.data.write(number);
      };
      right(Protocol::publish(*this, me, number, slot, write), "the only root is told of another one");
    } else {
      Protocol::await(*this, me, number, slot);
      Words::forget_before({kMayRead});
      right(slot.data.read() == number, "a reader finds the data of another broadcast");
    }
    Words::forget_before({kFinishes});
    Protocol::finish(me, number);
  }

  const int size_, group_count_;
  std::unique_ptr<ArgumentSlot[]> slots_;
  typename Words::template Each<LocalGroup, kAtGroup> groups_;
  std::unique_ptr<RingSlot[]> ring_;
};

// All orders.

struct ModelWords {
  template <typename T>
  using Atomic = model::ModelAtomic<T>;
  using Data = model::ModelData;
  using Place = model::Explorer::Place;
  static void forget_before(Place place) { model::Explorer::here->forget_before(std::move(place)); }

  struct Completion : model::ModelCompletion {
    void wait() {
      Place place = model::Explorer::here->place();
      if (place.back() != kWaits) place.push_back(kWaits);
      forget_before(std::move(place));
      ModelCompletion::wait();
    }
  };
  /// A loop over such depends on what went before the loop, and on how far it is.
  template <typename T, int kPlace>
  class Each {
   public:
    Each() = default;
    explicit Each(std::size_t size) : all_(size) {}
    void push_back(T one) { all_.push_back(one); }
    T& operator[](std::size_t i) {
      forget_before({kPlace, static_cast<int>(i)});
      return all_[i];
    }
    auto begin() { return Iterator{this, 0, model::Explorer::here->here_and_now()}; }
    auto end() { return Iterator{this, all_.size(), {}}; }

   private:
    struct Iterator {
      Each* each;
      std::size_t i;
      Place before;
      T& operator*() const {
        Place place = before;
        place.insert(place.end(), {kPlace, static_cast<int>(i)});
        forget_before(std::move(place));
        return each->all_[i];
      }
      Iterator& operator++() { return ++i, *this; }
      bool operator!=(const Iterator& other) const { return i != other.i; }
    };
    std::vector<T> all_;
  };
  struct Waiting {
    /// Whether a rank polls is left open. When it stops to poll says the order of operations.
    static void poll_for(const Atomic<std::uint64_t>& word, std::uint64_t, Atomic<int>* pollers = nullptr) {
      forget_before({kPolls, word.variable()});
      if (pollers == nullptr || !model::choose()) return;
      pollers->fetch_add(1, std::memory_order_relaxed);
      pollers->fetch_sub(1, std::memory_order_seq_cst);
    }
    static bool yield() {
      forget_before({kYields});
      return false;
    }
  };
};

/// Names the words, and says what they are when all ranks have ended.
template <typename R>
void describe(model::Explorer& explorer, R& ring) {
  const auto name = [&](int variable, const std::string& what, int of) {
    explorer.name(variable, what + " of " + std::to_string(of));
  };
  const auto rests = [&](int variable, const std::string& what, int of) {
    name(variable, what, of);
    explorer.expect_at_end(variable, 0);
  };
  for (int i = 0; i < ring.size_; ++i) {
    name(ring.slots_[i].read.variable(), "read", i);
    rests(ring.slots_[i].follower.variable(), "follower", i);
    rests(ring.slots_[i].awaits.variable(), "awaits", i);
    rests(ring.slots_[i].released.variable(), "released", i);
  }
  for (int i = 0; i < ring.group_count_; ++i) {
    rests(ring.groups_[i].pollers.variable(), "pollers", i);
    rests(ring.groups_[i].asleep.variable(), "asleep", i);
  }
  for (int i = 0; i < R::kRingSlots; ++i) name(ring.ring_[i].number.variable(), "number", i);
}

enum Clocks { kWithoutClocks, kWithClocks };

/// `groups` by rank, `roots` by broadcast.
template <int kBatch>
void explore(Clocks clocks, const std::vector<int>& groups, const std::vector<int>& roots) {
  model::Explorer explorer;
  Ring<ModelWords, kBatch> ring(groups);
  describe(explorer, ring);
  const auto broadcast = [&](int rank, int part) {
    ring.broadcast(rank, roots[part], static_cast<std::uint64_t>(part) + 1,
                   [&](bool right, const char* what) { explorer.check(right, what); });
  };
  const int broadcasts = static_cast<int>(roots.size());
  EXPECT_EQ(explorer.explore(ring.size_, broadcasts, clocks == kWithClocks, broadcast), "");
  testing::Test::RecordProperty("states", static_cast<int>(explorer.states()));
}

// Batches of one slot, so a root waits from its third broadcast on.
TEST(RingInAllOrders, OfTwoRanks) {
  for (const auto& groups : {std::vector{0, 0}, {0, 1}})
    for (const auto& roots : {std::vector{0, 0, 0, 0, 0}, {0, 1, 0, 1, 0}, {0, 1, 1, 0, 0}})
      explore<1>(kWithClocks, groups, roots);
}

TEST(RingInAllOrders, OfTwoRanksInBatches) {
  explore<2>(kWithClocks, {0, 0}, {0, 0, 0, 0, 0, 0});
  explore<2>(kWithClocks, {0, 1}, {0, 0, 1, 0, 1, 0});
}

TEST(RingInAllOrders, OfThreeRanks) {
  explore<1>(kWithoutClocks, {0, 1, 2}, {0, 0, 0, 0});
  explore<1>(kWithoutClocks, {0, 1, 1}, {0, 0, 0});
  explore<1>(kWithoutClocks, {0, 0, 0}, {0, 1});
}

TEST(RingInAllOrders, OfThreeRanksWithClocks) { explore<1>(kWithClocks, {0, 1, 1}, {0, 0}); }

TEST(RingInAllOrders, TellsOneOfTwoRoots) {
  model::Explorer explorer;
  Ring<ModelWords, 1> ring({0, 1});
  describe(explorer, ring);
  model::ModelAtomic<int> told{0};
  explorer.name(told.variable(), "told");
  explorer.expect_at_end(told.variable(), 1);
  const auto publish = [&](int rank, int) {
    if (!decltype(ring)::Protocol::publish(ring, ring.slots_[rank], 1, ring.ring_[1], [] {}))
      told.fetch_add(1);
    decltype(ring)::Protocol::finish(ring.slots_[rank], 1);
  };
  EXPECT_EQ(explorer.explore(2, 1, true, publish), "");
}

// By threads.

struct ThreadWords {
  template <typename T>
  using Atomic = std::atomic<T>;
  using Completion = fiber::Completion;
  template <typename T, int>
  using Each = std::vector<T>;
  /// As much as two lines of the cache, so that it is not read or written at once.
  class Data {
   public:
    void write(std::uint64_t number) {
      for (std::uint64_t& word : words_) word = number;
    }
    /// No number, if it is of several broadcasts.
    std::uint64_t read() const {
      for (const std::uint64_t word : words_)
        if (word != words_[0]) return 0;
      return words_[0];
    }

   private:
    std::uint64_t words_[16];
  };
  static void forget_before(std::initializer_list<int>) { pause(); }
  struct Waiting {
    static bool poll_for(const std::atomic<std::uint64_t>& word, std::uint64_t least,
                         std::atomic<int>* pollers = nullptr) {
      pause();
      return fiber::poll_for(word, least, pollers);
    }
    static bool yield() { return pause(); }
  };
  /// Mostly none; sometimes so long that others sleep.
  static bool pause() {
    thread_local std::mt19937 random(++seed);
    const unsigned drawn = random() % 256;
    if (drawn == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (drawn < 32) std::this_thread::yield();
    return drawn < 32;
  }
  static inline std::atomic<unsigned> seed{0};
};

/// Whether threads poll for long before they sleep.
class RingOfThreads : public testing::TestWithParam<bool> {
 protected:
  template <int kBatch>
  void run(const std::vector<int>& groups) {
    constexpr std::uint64_t kBroadcasts = 2000;
    fiber::set_spinning(GetParam());
    Ring<ThreadWords, kBatch> ring(groups);
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ring.size_; ++rank)
      threads.emplace_back([&ring, rank] {
        std::mt19937 same(1);
        for (std::uint64_t number = 1; number <= kBroadcasts; ++number) {
          // For a while one is the root, then another one each time.
          const auto drawn = number % 64 < 40 ? number / 64 : same();
          const int root = static_cast<int>(drawn % static_cast<unsigned>(ring.size_));
          ring.broadcast(rank, root, number,
                         [&](bool right, const char* what) { ASSERT_TRUE(right) << what << ", " << number; });
        }
      });
    for (std::thread& thread : threads) thread.join();
    fiber::set_spinning(false);
  }
};

TEST_P(RingOfThreads, HasBatchesOfOne) { run<1>({0, 1, 1}); }
TEST_P(RingOfThreads, HasBatchesAsATeamHas) { run<8>({0, 0, 1, 1, 2}); }

INSTANTIATE_TEST_SUITE_P(Spinning, RingOfThreads, testing::Bool());

}  // namespace
}  // namespace clump::coll
