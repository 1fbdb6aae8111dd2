// Two ranks, each alone at its worker: what they exchange by rooms that change hands. Random types, layouts
// and forms are those of tests/mpi/collectives/properties.c.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <vector>

#include "coll/shared/team.h"
#include "coll/test_operations.h"
#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

constexpr int kRanks = 2;
// In ints: what mailboxes carry, the first that it does not, a chunk and more, all that a room takes, and
// more.
constexpr int kCounts[] = {0, 1, 9, 129, 1023, 1025, 5000, 32 * 1024, 32 * 1024 + 1};

Job two_apart() { return Job(kRanks, {0, 1}); }

/// Something else in each turn.
std::vector<int> given(int rank, int turn, int count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1000 * turn + 500 * rank);
  return values;
}

std::vector<int> joined(const std::vector<int>& first, const std::vector<int>& second) {
  std::vector<int> all = first;
  all.insert(all.end(), second.begin(), second.end());
  return all;
}

std::vector<int> half(const std::vector<int>& all, int which) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  return which == 0 ? std::vector<int>(all.begin(), middle) : std::vector<int>(middle, all.end());
}

std::vector<int> sum(std::vector<int> one, const std::vector<int>& other) {
  for (std::size_t i = 0; i < one.size(); ++i) one[i] += other[i];
  return one;
}

/// Calls turn(comm, number, count) for each count, several times, on both ranks.
template <typename Turn>
void in_turns(Turn turn) {
  two_apart().run([&](core::Comm& comm) {
    int number = 0;
    for (int repeat = 0; repeat < 3; ++repeat)
      for (const int count : kCounts) turn(comm, ++number, count);
  });
}

TEST(Swaps, MoveData) {
  in_turns([](core::Comm& comm, int turn, int count) {
    const int me = comm.rank, root = turn / 2 % kRanks;
    const bool here = me == root;
    const std::vector<int> first = given(0, turn, count), second = given(1, turn, count);
    std::vector<int> mine = me == 0 ? first : second, some(count, -1), both(2 * count, -1);

    std::vector<int> data = here ? mine : some;
    EXPECT_TRUE(broadcast(comm, ints(data), root).ok());
    EXPECT_EQ(data, root == 0 ? first : second);

    EXPECT_TRUE(gather(comm, ints(mine), ints(both), root).ok());
    EXPECT_EQ(both, here ? joined(first, second) : std::vector<int>(2 * count, -1));

    std::vector<int> out = given(root, turn, 2 * count);
    EXPECT_TRUE(scatter(comm, ints(out), ints(some), root).ok());
    EXPECT_EQ(some, half(out, me));

    EXPECT_TRUE(allgather(comm, ints(mine), ints(both)).ok());
    EXPECT_EQ(both, joined(first, second));

    out = given(me, turn, 2 * count);
    const std::vector<int> swapped =
        joined(half(given(0, turn, 2 * count), me), half(given(1, turn, 2 * count), me));
    EXPECT_TRUE(alltoall(comm, ints(out), ints(both)).ok());
    EXPECT_EQ(both, swapped);
    EXPECT_TRUE(alltoall(comm, ints(out), ints(out)).ok());
    EXPECT_EQ(out, swapped);
  });
}

// The same without waiting in between, so that several are under way; more often than it takes to try out
// whether rooms are better, and with more than fits into one.
TEST(Swaps, NonblockingMovesData) {
  two_apart().run([](core::Comm& comm) {
    for (int turn = 0; turn < 70; ++turn) {
      const int count = std::vector{2048, 5000, 32 * 1024, 32 * 1024 + 1}[turn % 4];
      const int me = comm.rank, root = turn / 4 % kRanks;
      const bool here = me == root;
      const std::vector<int> first = given(0, turn, count), second = given(1, turn, count),
                             none(2 * count, -1);
      const std::vector<int> whole = given(me, turn, 2 * count), of_root = given(root, turn, 2 * count);
      std::vector<int> mine = me == 0 ? first : second, data = here ? mine : second, at_root = none,
                       some(count), scattered = of_root, all = none, out = whole, in = none, placed = whole;
      const std::vector<int> swapped =
          joined(half(given(0, turn, 2 * count), me), half(given(1, turn, 2 * count), me));
      std::vector<Operation> operations;
      const auto begin = [&](const Call& call) { operations.push_back(begun(comm, call)); };
      begin(Call::broadcast(ints(data), root));
      begin(Call::gather(ints(mine), ints(at_root), root));
      begin(Call::scatter(ints(scattered), ints(some), root));
      begin(Call::allgather(ints(mine), ints(all)));
      begin(Call::alltoall(comm.peers().size(), ints(out), ints(in)));
      begin(Call::alltoall(comm.peers().size(), ints(placed), ints(placed)));
      for (const Operation& operation : operations) EXPECT_TRUE(end(*operation).ok());
      EXPECT_EQ(data, root == 0 ? first : second);
      EXPECT_EQ(at_root, here ? joined(first, second) : none);
      EXPECT_EQ(some, half(of_root, me));
      EXPECT_EQ(all, joined(first, second));
      EXPECT_EQ(in, swapped);
      EXPECT_EQ(placed, swapped);
    }
  });
}

/// Block i is counts[i] ints, and the blocks follow each other.
struct Uneven {
  std::vector<int> values;
  std::vector<int> counts, displacements;
  Uneven(std::vector<int> given, int first)
      : values(std::move(given)),
        counts{first, static_cast<int>(values.size()) - first},
        displacements{0, first} {}
  Blocks blocks() {
    return {values.data(), Numbers(counts.data()), Numbers(displacements.data()),
            datatype::predefined(MPI_INT)};
  }
};

// Of which one does not fit what the other one expects: both read where the data lies, and are told.
TEST(Swaps, NonblockingTellsWhichRankExpectsAnotherSize) {
  two_apart().run([](core::Comm& comm) {
    for (const int count : {3000, 20000}) {
      const int other = comm.rank == 0 ? 5 : 0;  // rank 0 expects more than rank 1 gives
      Uneven out(given(comm.rank, 1, 2 * count), count), in(std::vector<int>(2 * count + other), count);
      in.counts = {count, count + other};
      const Operation exchanged = begun(comm, Call::alltoallv(out.blocks(), in.blocks()));
      EXPECT_EQ(end(*exchanged).error_class(), comm.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      std::vector<int> mine = given(comm.rank, 2, count), all(2 * count);
      const Operation gathered = begun(comm, Call::allgather(ints(mine), ints(all)));
      EXPECT_TRUE(end(*gathered).ok());
      EXPECT_EQ(all, joined(given(0, 2, count), given(1, 2, count)));
    }
  });
}

TEST(Swaps, MoveBlocksThatDifferInSize) {
  in_turns([](core::Comm& comm, int turn, int count) {
    const int me = comm.rank, root = turn / 2 % kRanks;
    const bool here = me == root;
    const int counts[] = {count, count / 3};
    const std::vector<int> first = given(0, turn, counts[0]), second = given(1, turn, counts[1]);
    std::vector<int> mine = me == 0 ? first : second, some(counts[me], -1);
    const std::vector<int> none(counts[0] + counts[1], -1);

    Uneven both(none, counts[0]);
    EXPECT_TRUE(gatherv(comm, ints(mine), both.blocks(), root).ok());
    EXPECT_EQ(both.values, here ? joined(first, second) : none);

    Uneven out(joined(first, second), counts[0]);
    EXPECT_TRUE(scatterv(comm, out.blocks(), ints(some), root).ok());
    EXPECT_EQ(some, mine);

    both.values = none;
    EXPECT_TRUE(allgatherv(comm, ints(mine), both.blocks()).ok());
    EXPECT_EQ(both.values, joined(first, second));
    std::ranges::fill_n(both.values.begin() + (me == 0 ? counts[0] : 0), counts[1 - me], -1);
    EXPECT_TRUE(
        allgatherv(comm, part(ints(both.values), me == 0 ? 0 : counts[0], counts[me]), both.blocks()).ok());
    EXPECT_EQ(both.values, joined(first, second));

    // Rank 0 has counts[0] for itself and counts[1] for rank 1, which has counts[1] for rank 0 and as many
    // for itself.
    Uneven in(std::vector<int>(counts[me] + counts[1], -1), counts[me]),
        given_away(given(me, turn, counts[me] + counts[1]), counts[me]);
    const auto block = [&](int from, int to) {
      const std::vector<int> all = given(from, turn, counts[from] + counts[1]);
      return to == 0 ? std::vector<int>(all.begin(), all.begin() + counts[from])
                     : std::vector<int>(all.begin() + counts[from], all.end());
    };
    const std::vector<int> exchanged = joined(block(0, me), block(1, me));
    EXPECT_TRUE(alltoall(comm, given_away.blocks(), in.blocks()).ok());
    EXPECT_EQ(in.values, exchanged);
    EXPECT_TRUE(alltoall(comm, given_away.blocks(), given_away.blocks()).ok());
    EXPECT_EQ(given_away.values, exchanged);
  });
}

// Whatever one of them takes for the size of what it gets: the other one's room is not left behind full.
TEST(Swaps, TellWhoExpectsAnotherSize) {
  for (const int expected : {0, 3, 5, 40'000}) {
    two_apart().run([&](core::Comm& comm) {
      std::vector<int> mine(4, comm.rank);
      for (int repeat = 0; repeat < 2; ++repeat) {
        Uneven both(std::vector<int>(4 + (comm.rank == 0 ? expected : 4), -1), 4);
        const base::Status status = allgatherv(comm, ints(mine), both.blocks());
        EXPECT_EQ(status.ok(), comm.rank == 1);
        EXPECT_EQ(both.values[0], 0);
        if (expected > 0) {
          EXPECT_EQ(both.values[4], 1);
        }
        Uneven right(std::vector<int>(8, -1), 4);
        EXPECT_TRUE(allgatherv(comm, ints(mine), right.blocks()).ok());
        EXPECT_EQ(right.values, (std::vector{0, 0, 0, 0, 1, 1, 1, 1}));
      }
    });
  }
}

TEST(Swaps, TellWhoExpectsAnotherSizeOfItself) {
  two_apart().run([&](core::Comm& comm) {
    std::vector<int> mine(4, comm.rank);
    Uneven both(std::vector<int>(7, -1), comm.rank == 0 ? 3 : 4);
    if (comm.rank == 1) both = Uneven(std::vector<int>(8, -1), 4);
    EXPECT_EQ(allgatherv(comm, ints(mine), both.blocks()).ok(), comm.rank == 1);
    EXPECT_EQ(both.values[comm.rank == 0 ? 3 : 4], 1);
  });
}

TEST(Swaps, CombineData) {
  const core::Op op(MPI_SUM);
  const Reduction reduction{&op, MPI_INT};
  in_turns([&](core::Comm& comm, int turn, int count) {
    const int me = comm.rank, root = turn / 2 % kRanks;
    const std::vector<int> first = given(0, turn, count), second = given(1, turn, count),
                           all = sum(first, second), none(count, -1);
    std::vector<int> mine = me == 0 ? first : second, got = none;

    EXPECT_TRUE(allreduce(comm, reduction, ints(mine), ints(got)).ok());
    EXPECT_EQ(got, all);
    got = mine;
    EXPECT_TRUE(allreduce(comm, reduction, ints(got), ints(got)).ok());
    EXPECT_EQ(got, all);
    got = none;
    EXPECT_TRUE(reduce(comm, reduction, ints(mine), ints(got), root).ok());
    EXPECT_EQ(got, me == root ? all : none);
    got = none;
    EXPECT_TRUE(scan(comm, reduction, ints(mine), ints(got)).ok());
    EXPECT_EQ(got, me == 0 ? first : all);
    got = none;
    EXPECT_TRUE(exscan(comm, reduction, ints(mine), ints(got)).ok());
    if (me == 1) {
      EXPECT_EQ(got, first);
    }
    std::vector<int> wide = given(me, turn, 2 * count);
    got = none;
    EXPECT_TRUE(reduce_scatter_block(comm, reduction, ints(wide), ints(got)).ok());
    EXPECT_EQ(got, half(sum(given(0, turn, 2 * count), given(1, turn, 2 * count)), me));
  });
}

// Each knows it for itself, and they may never differ: one would exchange buffers where the other one does
// not.
TEST(Swaps, AgreeWhetherDataIsTouched) {
  const core::Op op(MPI_SUM);
  constexpr int kTurns = 400, kCount = 4096;
  std::vector<std::vector<bool>> touched(kRanks, std::vector<bool>(kTurns));
  two_apart().run([&](core::Comm& comm) {
    std::vector<int> mine(kCount, 1), got(kCount);
    Team* const team = Team::of(comm);
    ASSERT_NE(team, nullptr);
    for (int turn = 0; turn < kTurns; ++turn) {
      touched[comm.rank][turn] = team->is_touched(comm.rank, Collective::kAllreduce, kCount * sizeof(int));
      if (turn < kTurns / 2) std::ranges::fill(mine, turn);
      EXPECT_TRUE(allreduce(comm, {&op, MPI_INT}, ints(mine), ints(got)).ok());
      EXPECT_EQ(got.back(), 2 * mine.back());
    }
  });
  EXPECT_EQ(touched[0], touched[1]);
  EXPECT_FALSE(touched[0][0]) << "who knows nothing tries";
}

TEST(Swaps, AreForTwoThatShareNoWorker) {
  const auto fits_pair = [](Job job) {
    std::atomic<bool> can = true;
    job.run([&](core::Comm& comm) { can = can && Team::of(comm)->fits_pair(100); });
    return can.load();
  };
  EXPECT_TRUE(fits_pair(two_apart()));
  EXPECT_FALSE(fits_pair(Job(2, {0, 0})));
  EXPECT_FALSE(fits_pair(Job(2)));
  EXPECT_FALSE(fits_pair(Job(3, {0, 1, 2})));
  two_apart().run([](core::Comm& comm) { EXPECT_FALSE(Team::of(comm)->fits_pair(1 << 20)); });
}

}  // namespace
}  // namespace clump::coll
