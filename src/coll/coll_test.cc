// Schedules over ranks that are threads of this test: the engine itself, the agreements, and every rule of
// the selection table at many numbers of ranks. What the MPI functions make of it is tested in
// tests/mpi/collectives.
#include "coll/test_calls.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/select/select.h"
#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

class Collectives : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Collectives, testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 16, 33, 46),
                         testing::PrintToStringParamName());

TEST_P(Collectives, KeepTheOrderOfRanks) {
  const int size = GetParam();
  const core::Op op(compose, false);
  Job(size).run([&](core::Comm& comm) {
    for (const int count : {2, 400, 20000}) {
      const std::vector<int> all = composed(size - 1, count);
      for (const int root : {0, size / 2, size - 1}) {
        std::vector<int> in = operand(comm.rank, count), out(count, -1);
        Schedule s(comm, {&op, MPI_INT});
        reduce(s, ints(in), ints(out), root);
        EXPECT_TRUE(s.run().ok());
        EXPECT_EQ(in, operand(comm.rank, count));
        EXPECT_EQ(out, comm.rank == root ? all : std::vector<int>(count, -1));
      }
      std::vector<int> in = operand(comm.rank, count), out(count, -1);
      Schedule both(comm, {&op, MPI_INT});
      allreduce(both, ints(in), ints(out));
      EXPECT_TRUE(both.run().ok());
      EXPECT_EQ(out, all);
      Schedule prefix(comm, {&op, MPI_INT});
      scan(prefix, ints(in), ints(in));
      EXPECT_TRUE(prefix.run().ok());
      EXPECT_EQ(in, composed(comm.rank, count));
    }
  });
}

TEST_P(Collectives, SumMuchData) {
  const int size = GetParam();
  const core::Op op(MPI_SUM);
  Job(size).run([&](core::Comm& comm) {
    for (const int count : {size, 5000, 40001, 530000}) {
      if (count > 100000 && size > 8) continue;
      std::vector<int> sums(count);
      for (int i = 0; i < count; ++i) sums[i] = i * size + size * (size - 1) / 2;
      for (const bool in_place : {false, true}) {
        std::vector<int> in(count), out(count, -1);
        std::iota(in.begin(), in.end(), comm.rank);
        Schedule s(comm, {&op, MPI_INT});
        allreduce(s, ints(in), in_place ? ints(in) : ints(out));
        EXPECT_TRUE(s.run().ok());
        EXPECT_EQ(in_place ? in : out, sums);
      }
      std::vector<int> in(count), out(count, -1);
      std::iota(in.begin(), in.end(), comm.rank);
      Schedule s(comm, {&op, MPI_INT});
      reduce(s, ints(in), ints(out), size - 1);
      EXPECT_TRUE(s.run().ok());
      EXPECT_EQ(out, comm.rank == size - 1 ? sums : std::vector<int>(count, -1));
    }
  });
}

TEST_P(Collectives, BringEveryBlockToItsPlace) {
  const int size = GetParam();
  Job(size).run([&](core::Comm& comm) {
    for (const int count : {1, 700, 3000}) {
      std::vector<int> expected;
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> block = operand(rank, count);
        expected.insert(expected.end(), block.begin(), block.end());
      }
      std::vector<int> mine = operand(comm.rank, count), all(count * size);
      Schedule together(comm);
      allgather(together, ints(mine), ints(all));
      EXPECT_TRUE(together.run().ok());
      EXPECT_EQ(all, expected);
      for (int root = 0; root < size; root += 1 + size / 8) {
        std::vector<int> gathered(comm.rank == root ? count * size : 0), back(count);
        Schedule there(comm);
        gather(there, ints(mine), ints(gathered), root);
        EXPECT_TRUE(there.run().ok());
        EXPECT_EQ(gathered, comm.rank == root ? expected : std::vector<int>());
        Schedule and_back(comm);
        scatter(and_back, ints(gathered), ints(back), root);
        EXPECT_TRUE(and_back.run().ok());
        EXPECT_EQ(back, mine);
      }
    }
    for (const int count : {0, 1, 200001}) {
      std::vector<int> buffer = operand(comm.rank, count);
      Schedule s(comm);
      broadcast(s, ints(buffer), size / 2);
      EXPECT_TRUE(s.run().ok());
      EXPECT_EQ(buffer, operand(size / 2, count));
    }
  });
}

TEST_P(Collectives, AgreeWithEachOtherWhateverTheAlgorithm) {
  const int size = GetParam();
  if (size == 1) return;
  const core::Op ordered(compose, false);
  const core::Op sum(MPI_SUM);
  Job(size).run([&](core::Comm& comm) {
    for (const int count : {2, 4 * size, 3000}) {
      const auto allreduced = [&](const core::Op& op, auto algorithm, bool in_place) {
        std::vector<int> in = operand(comm.rank, count), out(count, -1);
        Schedule s(comm, {&op, MPI_INT});
        algorithm(s, ints(in), in_place ? ints(in) : ints(out));
        EXPECT_TRUE(s.run().ok());
        return in_place ? in : out;
      };
      const auto reduced = [&](const core::Op& op, auto algorithm, int root) {
        std::vector<int> in = operand(comm.rank, count), out(count, -1);
        Schedule s(comm, {&op, MPI_INT});
        algorithm(s, ints(in), ints(out), root);
        EXPECT_TRUE(s.run().ok());
        return out;
      };
      std::vector<int> sums(count);
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> terms = operand(rank, count);
        for (int i = 0; i < count; ++i) sums[i] += terms[i];
      }
      for (const bool in_place : {false, true}) {
        EXPECT_EQ(allreduced(ordered, allreduce_recursive_doubling, in_place), composed(size - 1, count));
        EXPECT_EQ(allreduced(ordered, allreduce_reduce_broadcast, in_place), composed(size - 1, count));
        if (count < size) continue;
        EXPECT_EQ(allreduced(sum, allreduce_ring, in_place), sums);
      }
      for (const int root : {0, size - 1}) {
        const bool here = comm.rank == root;
        const std::vector<int> untouched(count, -1);
        EXPECT_EQ(reduced(ordered, reduce_direct, root), here ? composed(size - 1, count) : untouched);
        EXPECT_EQ(reduced(ordered, reduce_binomial, root), here ? composed(size - 1, count) : untouched);
        if (count < size) continue;
        EXPECT_EQ(reduced(sum, reduce_ring, root), here ? sums : untouched);
      }
    }
  });
}

TEST_P(Collectives, MoveTheSameDataWhateverTheAlgorithm) {
  const int size = GetParam();
  if (size == 1) return;
  Job(size).run([&](core::Comm& comm) {
    const int count = 5;
    std::vector<int> expected;
    for (int rank = 0; rank < size; ++rank) {
      const std::vector<int> block = operand(rank, count);
      expected.insert(expected.end(), block.begin(), block.end());
    }
    std::vector<int> mine = operand(comm.rank, count);
    for (const auto algorithm : {allgather_bruck, allgather_gather_broadcast}) {
      std::vector<int> all(count * size);
      Schedule s(comm);
      algorithm(s, ints(mine), ints(all));
      EXPECT_TRUE(s.run().ok());
      EXPECT_EQ(all, expected);
    }
    for (int root = 0; root < size; ++root) {
      const bool here = comm.rank == root;
      std::vector<int> all(here ? count * size : 0), back(count);
      Schedule there(comm);
      gather_binomial(there, ints(mine), ints(all), root);
      EXPECT_TRUE(there.run().ok());
      EXPECT_EQ(all, here ? expected : std::vector<int>());
      Schedule and_back(comm);
      scatter_binomial(and_back, ints(all), ints(back), root);
      EXPECT_TRUE(and_back.run().ok());
      EXPECT_EQ(back, mine);
      for (const auto algorithm : {broadcast_binomial, broadcast_scatter_allgather}) {
        std::vector<int> buffer = here ? expected : std::vector<int>(expected.size());
        Schedule s(comm);
        algorithm(s, ints(buffer), root);
        EXPECT_TRUE(s.run().ok());
        EXPECT_EQ(buffer, expected);
      }
    }
    for (const auto algorithm : {barrier_direct, barrier_dissemination}) {
      Schedule s(comm);
      algorithm(s);
      EXPECT_TRUE(s.run().ok());
    }
  });
}

TEST_P(Collectives, LeaveNoBarrierEarly) {
  const int size = GetParam();
  std::atomic<int> entered = 0;
  Job(size).run([&](core::Comm& comm) {
    for (int round = 1; round <= 20; ++round) {
      ++entered;
      EXPECT_TRUE(synchronize(Members(comm, Caller::kCommDup)).ok());
      EXPECT_GE(entered, round * size);
    }
  });
}

TEST_P(Collectives, Agree) {
  const int size = GetParam();
  Job(size).run([&](core::Comm& comm) {
    const std::vector<int> mine = {comm.rank, -comm.rank, ~(1 << comm.rank % 16)};
    std::vector<int> values = mine;
    EXPECT_TRUE(agree_max(Members(comm, Caller::kCommDup), values).ok());
    EXPECT_EQ(values, (std::vector<int>{size - 1, 0, ~1}));
    values = mine;
    EXPECT_TRUE(agree_and(Members(comm, Caller::kCommDup), values).ok());
    EXPECT_EQ(values[2], ~((1 << std::min(size, 16)) - 1));
    values = mine;
    EXPECT_TRUE(share_ints(Members(comm, Caller::kCommDup), values).ok());
    EXPECT_EQ(values, (std::vector<int>{0, 0, ~1}));

    // Only the odd ranks, in reverse order, twice with one tag.
    if (comm.rank % 2 == 0) return;
    std::vector<int> odd;
    for (int rank = size - 1; rank > 0; --rank)
      if (rank % 2 == 1) odd.push_back(rank);
    const auto group = core::Group::of(odd, core::Origin::kWorld);
    const Members members(comm, *group, 77);
    for (int repeat = 0; repeat < 2; ++repeat) {
      std::vector<int> all(odd.size());
      EXPECT_TRUE(allgather_ints(members, {mine.data(), 1}, all).ok());
      EXPECT_EQ(all, odd);
      EXPECT_TRUE(synchronize(members).ok());
    }
  });
}

TEST(Schedule, RunsAgainAndWithoutBlocking) {
  Job(3).run([](core::Comm& comm) {
    std::vector<int> buffer(2);
    Schedule s(comm);
    broadcast(s, ints(buffer), 1);
    for (int repeat = 0; repeat < 20; ++repeat) {
      const std::vector<int> values = comm.rank == 1 ? operand(repeat, 2) : std::vector<int>(2);
      std::copy(values.begin(), values.end(), buffer.begin());  // the schedule knows where the buffer lies
      if (repeat % 2 == 0) {
        EXPECT_TRUE(s.run().ok());
      } else {
        struct Ended final : Schedule::Listener {
          void round_ended() override { flag.store(true, std::memory_order_release); }
          std::atomic<bool> flag{false};
        } ended;
        s.start(ended);
        while (!s.advance())
          while (!ended.flag.exchange(false, std::memory_order_acquire)) std::this_thread::yield();
        EXPECT_TRUE(s.status().ok());
      }
      EXPECT_EQ(buffer, operand(repeat, 2));
    }
  });
}

TEST(Schedule, NamesBothSidesOfADisagreement) {
  Job(2).run([](core::Comm& comm) {
    std::vector<int> buffer(comm.rank == 0 ? 3 : 5);
    Schedule s(comm);
    broadcast(s, ints(buffer), 0);
    const base::Status status = s.run();
    EXPECT_EQ(status.error_class(), comm.rank == 0 ? MPI_SUCCESS : MPI_ERR_TRUNCATE);
    const std::string text = base::message_of(status.code());
    EXPECT_EQ(text.find("rank 0 sent 12 bytes where rank 1 expects 20") != std::string::npos, comm.rank == 1);
  });
}

TEST(Selection, EveryCollectiveEndsWithARuleThatFitsAlways) {
  const Rule* last = nullptr;
  for (const Rule& rule : shipped_rules()) {
    if (last != nullptr && last->collective != rule.collective) {
      EXPECT_TRUE(last->below_bytes == 0 && last->up_to_ranks == 0 && last->operations == Operations::kAny &&
                  !is_for_teams(last->algorithm))
          << name_of(last->collective);
    }
    last = &rule;
  }
  const auto allreduce = [](const Situation& situation) { return select(Collective::kAllreduce, situation); };
  EXPECT_EQ(allreduce({2, 8}), Algorithm::kRecursiveDoubling);
  EXPECT_EQ(allreduce({16, 8}), Algorithm::kReduceBroadcast);
  EXPECT_EQ(allreduce({16, 4 << 20}), Algorithm::kRing);
  EXPECT_EQ(allreduce({16, 4 << 20, Operations::kAny}), Algorithm::kReduceBroadcast);
  EXPECT_EQ(allreduce({16, 8, Operations::kAny, true}), Algorithm::kShmSmall);
  EXPECT_EQ(allreduce({16, 4 << 20, Operations::kPredefined, true}), Algorithm::kShmAll);
  EXPECT_EQ(allreduce({16, 4 << 20, Operations::kCommutative, true}), Algorithm::kRing);
}

TEST(Select, WhatIsWantedIsUsedWhereItSuits) {
  const auto wanted = [](const Situation& situation, Algorithm algorithm) {
    return select(Collective::kAllreduce, situation, algorithm);
  };
  EXPECT_EQ(wanted({16, 8}, Algorithm::kRing), Algorithm::kRing);
  EXPECT_EQ(wanted({16, 8, Operations::kAny}, Algorithm::kRing), Algorithm::kReduceBroadcast);
  EXPECT_EQ(wanted({16, 8}, Algorithm::kShmLeader), Algorithm::kReduceBroadcast);
  EXPECT_EQ(wanted({16, 8, Operations::kPredefined, true}, Algorithm::kShmAll), Algorithm::kShmAll);
  EXPECT_EQ(wanted({16, 8, Operations::kPredefined, true}, Algorithm::kBruck), Algorithm::kShmSmall);
  EXPECT_EQ(wanted({16, 1 << 20, Operations::kPredefined, true}, Algorithm::kShmSmall), Algorithm::kShmAll);
}

}  // namespace
}  // namespace clump::coll
