#include "core/comm.h"

#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "core/rank.h"

namespace clump::core {
namespace {

constexpr int kRanks = 1000;
constexpr int kComms = 500;

/// What a rank pays for a communicator of `kRanks` ranks that nobody has given a name, attributes or hints:
/// everything from the heap, divided by their number.
std::size_t bytes_of_comm(const std::vector<int>& world_ranks) {
  World world;
  world.launch.size = kRanks;
  Rank rank(world, world.launch, 17);
  const std::size_t before = mallinfo2().uordblks;
  for (int i = 0; i < kComms; ++i)
    rank.add(base::make_ref<Comm>(rank, world.allocate_context(), Group::of(world_ranks, Origin::kWorld),
                                  base::Ref<const Group>()));
  return (mallinfo2().uordblks - before) / kComms;
}

TEST(Comm, TakesFewBytes) {
  std::vector<int> ranks(kRanks);
  std::iota(ranks.begin(), ranks.end(), 0);
  const std::size_t regular = bytes_of_comm(ranks);
  if (regular == 0) GTEST_SKIP() << "this malloc() does not tell how much is in use";
  EXPECT_LE(regular, 400u);
  ranks.back() = 2 * kRanks;
  const std::size_t blocks = bytes_of_comm(ranks);  // the last block has one rank
  EXPECT_LE(blocks, 400u);
  ranks[kRanks / 2] = 3 * kRanks / 2;
  std::sort(ranks.begin(), ranks.end());
  const std::size_t rising = bytes_of_comm(ranks);
  EXPECT_LE(rising, 400u + 4 * kRanks);
  std::shuffle(ranks.begin(), ranks.end(), std::mt19937(1));
  const std::size_t shuffled = bytes_of_comm(ranks);
  EXPECT_LE(shuffled, 400u + 8 * kRanks);
  std::printf("bytes for a communicator of %d ranks: regular %zu, rising %zu, in any order %zu\n", kRanks,
              regular, rising, shuffled);
}

std::string reason;

/// Whether the job is ended by a second communicator with a context that one of another rank or of the same
/// has, as jobs on different hosts may draw it.
bool may_share(std::uint32_t context, bool of_one_rank, bool keep) {
  World world;
  world.launch.size = 2;
  world.abort_job = [](int, int, const std::string& text) { reason = text; };
  Rank one(world, world.launch, 0), other(world, world.launch, 1);
  const base::Ref<const Group> group = Group::of(std::vector<int>{0, 1}, Origin::kWorld);
  const auto make = [&](Rank& rank) {
    return base::make_ref<Comm>(rank, ContextId{context}, group, base::Ref<const Group>());
  };
  reason.clear();
  base::Ref<Comm> first = make(one);
  if (!keep) first = {};
  const base::Ref<Comm> second = make(of_one_rank ? one : other);
  return reason.empty();
}

TEST(Comm, OfTwoThatCrossJobsWithOneContextTheJobEnds) {
  EXPECT_FALSE(may_share(0x80000010, true, true));
  EXPECT_NE(reason.find("start the jobs again"), std::string::npos) << reason;
  EXPECT_TRUE(may_share(0x80000010, true, false)) << "the first one is gone";
  EXPECT_TRUE(may_share(0x80000010, false, true)) << "each rank has its own object";
}

TEST(Comm, ThatLearnsItsContextLaterIsLookedAtThen) {
  World world;
  world.launch.size = 1;
  world.abort_job = [](int, int, const std::string& text) { reason = text; };
  Rank rank(world, world.launch, 0);
  const auto make = [&](std::uint32_t context) {
    return base::make_ref<Comm>(rank, ContextId{context}, Group::regular(1), base::Ref<const Group>());
  };
  reason.clear();
  const base::Ref<Comm> first = make(0x80000010);
  {
    const base::Ref<Comm> idup = make(0);
    idup->context = ContextId{0x80000010};
    EXPECT_EQ(reason, "");
    idup->claim_context();
    EXPECT_NE(reason, "");
  }
  reason.clear();
  const base::Ref<Comm> third = make(0x80000010);
  EXPECT_NE(reason, "") << "the first one still has it";
}

struct CountedWindow final : Window {
  CountedWindow(Rank& owner, base::Ref<const Group> group, int& alive)
      : Window(owner, std::move(group)), alive_(alive) {
    ++alive_;
  }
  ~CountedWindow() override { --alive_; }
  base::Status look_at_own(const BufferInUse&) override { return {}; }
  int& alive_;
};

// A thread of the rank may free what a report looks at.
TEST(Rank, KeepsForReportsWhatTheProgramFrees) {
  World world;
  world.launch.size = 2;
  Rank rank(world, world.launch, 0);
  const base::Ref<const Group> group = Group::of(std::vector<int>{0, 1}, Origin::kWorld);
  int windows = 0;
  const MPI_Win window = rank.add(base::Ref<Window>(new CountedWindow(rank, group, windows)));
  const MPI_Comm comm =
      rank.add(base::make_ref<Comm>(rank, world.allocate_context(), group, base::Ref<const Group>()));
  {
    const std::vector<base::Ref<Window>> all_windows = rank.all_windows();
    const std::vector<base::Ref<Comm>> all_comms = rank.all_comms();
    static_cast<void>(rank.remove(window));
    static_cast<void>(rank.remove(comm));
    ASSERT_EQ(all_windows.size(), 1u);
    ASSERT_EQ(all_comms.size(), 5u) << "four of them are predefined";
    EXPECT_EQ(windows, 1);
    EXPECT_EQ(all_comms[0]->size(), 2);
  }
  EXPECT_EQ(windows, 0);
  EXPECT_EQ(rank.all_comms().size(), 4u);
}

}  // namespace
}  // namespace clump::core
