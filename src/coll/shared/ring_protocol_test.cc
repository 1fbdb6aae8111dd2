// The broadcast ring: in all orders of its operations, for a few broadcasts; and by threads, for many. With
// the ranks and the collectives around it, it is tested in team_test.cc.
#include "coll/shared/ring_protocol.h"

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "coll/shared/test_interleavings.h"
#include "fiber/completion.h"

namespace clump::coll {
namespace {

/// Where a rank is. See Explorer::forget_before(); those of more than one place count on.
enum Place { kMayWrite, kMayRead, kFinishes, kYields, kPolls, kEach };

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
    std::vector<ArgumentSlot*> members;
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
        groups_(std::make_unique<LocalGroup[]>(static_cast<std::size_t>(group_count_))),
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
        Words::forget_before(kMayWrite);
        slot.data.write(number);
      };
      right(Protocol::publish(*this, me, number, slot, write), "the only root is told of another one");
    } else {
      Protocol::await(*this, me, number, slot);
      Words::forget_before(kMayRead);
      right(slot.data.read() == number, "a reader finds the data of another broadcast");
    }
    Words::forget_before(kFinishes);
    Protocol::finish(me, number);
  }

  const int size_, group_count_;
  std::unique_ptr<ArgumentSlot[]> slots_;
  std::unique_ptr<LocalGroup[]> groups_;
  std::unique_ptr<RingSlot[]> ring_;
};

// All orders.

struct ModelWords {
  template <typename T>
  using Atomic = model::ModelAtomic<T>;
  using Completion = model::ModelCompletion;
  using Data = model::ModelData;
  static void forget_before(int place) { model::Explorer::here->forget_before(place); }
  struct Waiting {
    /// Whether a rank polls is left open. When it stops to poll says the order of operations.
    static void poll_for(const Atomic<std::uint64_t>& word, std::uint64_t, Atomic<int>* pollers = nullptr) {
      forget_before(kEach + word.variable());
      if (pollers == nullptr || !model::choose()) return;
      pollers->fetch_add(1, std::memory_order_relaxed);
      pollers->fetch_sub(1, std::memory_order_seq_cst);
    }
    static bool yield() {
      forget_before(kYields);
      return false;
    }
  };
};

/// Names the words, and says what they are when all ranks have ended.
template <typename R>
void describe(model::Explorer& explorer, const R& ring) {
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

/// Three ranks; roots by broadcast.
template <int kBatch>
void explore(const std::vector<int>& groups, const std::vector<int>& roots) {
  model::Explorer explorer;
  Ring<ModelWords, kBatch> ring(groups);
  describe(explorer, ring);
  const std::string wrong = explorer.explore(3, static_cast<int>(roots.size()), [&](int rank, int broadcast) {
    ring.broadcast(rank, roots[broadcast], static_cast<std::uint64_t>(broadcast) + 1,
                   [&](bool right, const char* what) { explorer.check(right, what); });
  });
  EXPECT_EQ(wrong, "");
  std::printf("batch %d groups %d%d%d roots %d broadcasts %zu: %zu states %zu nodes\n", kBatch, groups[0], groups[1], groups[2], roots[0], roots.size(), explorer.states(), explorer.nodes());
}

TEST(RingInAllOrders, One) { explore<1>({0, 0, 0}, {0}); }
TEST(RingInAllOrders, OneApart) { explore<1>({0, 1, 2}, {0}); }
TEST(RingInAllOrders, Two) { explore<1>({0, 0, 0}, {0, 0}); }
TEST(RingInAllOrders, TwoApart) { explore<1>({0, 1, 2}, {0, 0}); }
TEST(RingInAllOrders, TwoApart2) { explore<1>({0, 1, 1}, {0, 0}); }

}  // namespace
}  // namespace clump::coll
