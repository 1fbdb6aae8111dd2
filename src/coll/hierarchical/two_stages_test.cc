// Collectives among ranks on several hosts: every one that has two stages, for hosts with different numbers
// of ranks and in any order. crossings_test.cc counts what goes from host to host.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "coll/hierarchical/hosts.h"
#include "coll/select/select.h"
#include "coll/test_calls.h"
#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

/// `of(i)` for all ranks.
std::vector<int> nodes(int ranks, const std::function<int(int)>& of) {
  std::vector<int> made;
  for (int i = 0; i < ranks; ++i) made.push_back(of(i));
  return made;
}

class TwoStages : public testing::TestWithParam<std::vector<int>> {
 protected:
  int size() const { return static_cast<int>(GetParam().size()); }
  std::vector<int> roots() const { return {0, size() / 2, size() - 1}; }
  /// Runs `body` on all ranks, also of a communicator that has every second rank, the last one first.
  void run(const std::function<void(core::Comm&)>& body) const {
    Job(size(), {}, GetParam()).run([&](core::Comm& world) {
      body(world);
      std::vector<int> some;
      for (int rank = size() - 1; rank >= 0; rank -= 2) some.push_back(rank);
      if (std::ranges::find(some, world.rank) == some.end()) return;
      body(*base::make_ref<core::Comm>(world.owner, core::ContextId{100},
                                       core::Group::of(some, core::Origin::kWorld),
                                       base::Ref<const core::Group>()));
    });
  }
};

INSTANTIATE_TEST_SUITE_P(
    Hosts, TwoStages,
    testing::Values(nodes(8, [](int i) { return i / 4; }),            // even
                    nodes(16, [](int i) { return i / 4; }),           //
                    nodes(15, [](int i) { return i / 5; }),           //
                    nodes(12, [](int i) { return i % 3; }),           // even, and interleaved
                    std::vector{0, 0, 1},                             // one rank is alone
                    std::vector{1, 0, 0},                             //
                    std::vector{0, 1, 1, 2, 2, 2, 2},                 // uneven
                    std::vector{0, 0, 0, 1, 1, 2, 3, 3},              //
                    std::vector{2, 1, 0, 0, 1, 2, 2, 5},              // and interleaved
                    std::vector{3, 3, 3, 0, 0, 7, 3},                 //
                    nodes(13, [](int i) { return i * i % 5; }),       //
                    nodes(40, [](int i) { return std::min(i, 4); }),  // more than a table's 32
                    nodes(42, [](int i) { return i; }),
                    std::vector{1, 1, 1, 1}),  // no two, and all, together
    [](const auto& info) { return "layout" + std::to_string(info.index); });

// Enough that every rank leads, and that a piece for another host is just too long for a packet.
TEST_P(TwoStages, CombineMuch) {
  if (size() > 16) GTEST_SKIP() << "it would take long";
  const core::Op sum(MPI_SUM);
  run([&](core::Comm& comm) {
    for (const int count : {100'000, (1 << 18) + 3}) {
      std::vector<int> sums(static_cast<std::size_t>(count));
      for (int rank = 0; rank < comm.size(); ++rank)
        std::ranges::transform(sums, operand(rank, count), sums.begin(), std::plus());
      for (const bool in_place : {false, true}) {
        std::vector<int> in = operand(comm.rank, count), out(in.size(), -1);
        Schedule s(comm, {&sum, MPI_INT});
        allreduce(s, ints(in), in_place ? ints(in) : ints(out));
        EXPECT_TRUE(s.run().ok());
        EXPECT_TRUE((in_place ? in : out) == sums) << count;
      }
    }
  });
}

TEST_P(TwoStages, CombineTheSame) {
  const core::Op ordered(compose, false);
  const core::Op sum(MPI_SUM);
  run([&](core::Comm& comm) {
    const int size = comm.size();
    for (const int count : {2, 400, 20000}) {
      std::vector<int> sums(static_cast<std::size_t>(count));
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> terms = operand(rank, count);
        std::ranges::transform(sums, terms, sums.begin(), std::plus());
      }
      for (const bool keeps_order : {false, true}) {
        const Reduction reduction{keeps_order ? &ordered : &sum, MPI_INT};
        const std::vector<int> all = keeps_order ? composed(size - 1, count) : sums;
        for (const bool in_place : {false, true}) {
          std::vector<int> in = operand(comm.rank, count), out(in.size(), -1);
          Schedule s(comm, reduction);
          allreduce(s, ints(in), in_place ? ints(in) : ints(out));
          EXPECT_TRUE(s.run().ok());
          EXPECT_EQ(in_place ? in : out, all);
        }
        for (const int root : {0, size / 2, size - 1})
          for (const bool in_place : {false, true}) {
            std::vector<int> in = operand(comm.rank, count), out(in.size(), -1);
            const bool here = comm.rank == root;
            Schedule s(comm, reduction);
            reduce(s, ints(in), here && in_place ? ints(in) : ints(out), root);
            EXPECT_TRUE(s.run().ok());
            EXPECT_EQ(in, here && in_place ? all : operand(comm.rank, count));
            if (!here || !in_place) {
              EXPECT_EQ(out, here ? all : std::vector<int>(in.size(), -1));
            }
          }
      }
    }
  });
}

TEST_P(TwoStages, CombineUpToEachRank) {
  const core::Op ordered(compose, false);
  run([&](core::Comm& comm) {
    for (const int count : {2, 400, 20000})
      for (const bool in_place : {false, true}) {
        const auto result = [&](void (*write)(Schedule&, const Layout&, const Layout&)) {
          std::vector<int> in = operand(comm.rank, count), out(in.size(), -1);
          Schedule s(comm, {&ordered, MPI_INT});
          write(s, ints(in), in_place ? ints(in) : ints(out));
          EXPECT_TRUE(s.run().ok());
          return in_place ? in : out;
        };
        EXPECT_EQ(result(scan), composed(comm.rank, count));
        const std::vector<int> below = result(exscan);
        const std::vector<int> kept = in_place ? operand(0, count) : std::vector<int>(below.size(), -1);
        EXPECT_EQ(below, comm.rank > 0 ? composed(comm.rank - 1, count) : kept);
      }
  });
}

TEST_P(TwoStages, SumMuchData) {
  if (size() > 16) return;
  const core::Op sum(MPI_SUM);
  run([&](core::Comm& comm) {
    std::vector<int> sums(530000);
    std::iota(sums.begin(), sums.end(), 0);
    for (int& value : sums) value = value * comm.size() + comm.size() * (comm.size() - 1) / 2;
    for (const bool in_place : {false, true}) {
      std::vector<int> in(sums.size()), out(sums.size(), -1);
      std::iota(in.begin(), in.end(), comm.rank);
      Schedule s(comm, {&sum, MPI_INT});
      allreduce(s, ints(in), in_place ? ints(in) : ints(out));
      EXPECT_TRUE(s.run().ok());
      EXPECT_EQ(in_place ? in : out, sums);
    }
    std::vector<int> buffer(sums.size());
    const int root = comm.size() / 2;
    if (comm.rank == root) buffer = sums;
    Schedule s(comm);
    broadcast(s, ints(buffer), root);
    EXPECT_TRUE(s.run().ok());
    EXPECT_EQ(buffer, sums);
  });
}

TEST_P(TwoStages, MoveTheSame) {
  run([&](core::Comm& comm) {
    const int size = comm.size();
    for (const int count : {1, 100, 3000}) {
      std::vector<int> expected;
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> block = operand(rank, count);
        expected.insert(expected.end(), block.begin(), block.end());
      }
      std::vector<int> mine = operand(comm.rank, count), all(expected.size());
      Schedule together(comm);
      allgather(together, ints(mine), ints(all));
      EXPECT_TRUE(together.run().ok());
      EXPECT_EQ(all, expected);

      std::ranges::fill(all, -1);
      const Layout own = part(ints(all), Count{comm.rank} * count, count);
      std::ranges::copy(mine, all.begin() + Count{comm.rank} * count);
      Schedule in_place(comm);
      allgather(in_place, own, ints(all));
      EXPECT_TRUE(in_place.run().ok());
      EXPECT_EQ(all, expected);

      for (const int root : {0, size / 2, size - 1}) {
        const bool here = comm.rank == root;
        std::vector<int> gathered(here ? expected.size() : 0), back(mine.size()), sent(mine.size());
        Schedule there(comm);
        gather(there, ints(mine), ints(gathered), root);
        EXPECT_TRUE(there.run().ok());
        EXPECT_EQ(gathered, here ? expected : std::vector<int>());
        Schedule and_back(comm);
        scatter(and_back, ints(gathered), ints(back), root);
        EXPECT_TRUE(and_back.run().ok());
        EXPECT_EQ(back, mine);
        if (here) sent = mine;
        Schedule out(comm);
        broadcast(out, ints(sent), root);
        EXPECT_TRUE(out.run().ok());
        EXPECT_EQ(sent, operand(root, count));
      }
    }
  });
}

// Blocks of different sizes, some of them empty, in falling order and with room between them.
TEST_P(TwoStages, CollectBlocksOfAnySize) {
  run([&](core::Comm& comm) {
    const int size = comm.size();
    for (const int most : {1, 3, 2000}) {
      std::vector<Count> counts, places(static_cast<std::size_t>(size));
      for (int rank = 0; rank < size; ++rank) counts.push_back(rank % 3 == 1 ? 0 : most + rank);
      Count end = 0;
      for (int rank = size - 1; rank >= 0; --rank) {
        places[static_cast<std::size_t>(rank)] = end + 1;
        end += counts[static_cast<std::size_t>(rank)] + 1;
      }
      std::vector<int> expected(static_cast<std::size_t>(end), -1);
      const auto fill = [&](int rank, std::vector<int>& all) {
        const auto i = static_cast<std::size_t>(rank);
        const std::vector<int> block = operand(rank, static_cast<int>(counts[i]));
        std::ranges::copy(block, all.begin() + places[i]);
        return block;
      };
      for (int rank = 0; rank < size; ++rank) fill(rank, expected);
      for (const bool in_place : {false, true}) {
        std::vector<int> all(expected.size(), -1), mine;
        const Blocks blocks(all.data(), counts.data(), places.data(), datatype::predefined(MPI_INT));
        if (in_place)
          fill(comm.rank, all);
        else
          mine = operand(comm.rank, static_cast<int>(counts[static_cast<std::size_t>(comm.rank)]));
        Schedule s(comm);
        allgatherv(s, in_place ? blocks[comm.rank] : ints(mine), blocks);
        EXPECT_TRUE(s.run().ok());
        EXPECT_EQ(all, expected);
      }
    }
  });
}

/// Of all sizes: with nothing, with what fits into packed blocks (hierarchical/packed_blocks.cc), and with
/// what does not.
class Sizes {
 public:
  Sizes(const core::Comm& comm, const std::function<Count(int)>& of) {
    Count end = 0;
    for (int rank = 0; rank < comm.size(); ++rank) {
      counts_.push_back(of(rank));
      places_.push_back(end + 1);
      end += counts_.back() + 1;
    }
    values.assign(static_cast<std::size_t>(end) + 1, -1);
  }
  Blocks blocks() { return {values.data(), counts_.data(), places_.data(), datatype::predefined(MPI_INT)}; }
  /// Block `rank` becomes the first values of an operand.
  void fill(int rank, int operand_of) {
    const auto i = static_cast<std::size_t>(rank);
    std::ranges::copy(operand(operand_of, static_cast<int>(counts_[i])), values.begin() + places_[i]);
  }
  std::vector<int> values;

 private:
  std::vector<Count> counts_, places_;
};

TEST_P(TwoStages, GatherAndScatterBlocksOfAnySize) {
  const auto length = [](int rank) {
    static constexpr Count kLengths[] = {3, 0, 5000, 1, 2048, 2049, 70};
    return kLengths[rank % 7];
  };
  run([&](core::Comm& comm) {
    for (const int root : {0, comm.size() / 2, comm.size() - 1}) {
      const bool here = comm.rank == root;
      Sizes expected(comm, length), gathered(comm, length);
      for (int rank = 0; rank < comm.size(); ++rank) expected.fill(rank, rank);
      std::vector<int> mine = operand(comm.rank, static_cast<int>(length(comm.rank))), back(mine.size(), -1);
      Schedule there(comm);
      gatherv(there, ints(mine), gathered.blocks(), root);
      Schedule and_back(comm);
      scatterv(and_back, expected.blocks(), ints(back), root);
      for (int again = 0; again < 2; ++again) {  // as persistent ones do
        EXPECT_TRUE(there.run().ok());
        EXPECT_TRUE(and_back.run().ok());
      }
      EXPECT_EQ(gathered.values, here ? expected.values : std::vector<int>(gathered.values.size(), -1));
      EXPECT_EQ(back, mine);
    }
  });
}

TEST_P(TwoStages, ExchangeBlocksOfAnySize) {
  const auto length = [](int from, int to) {
    static constexpr Count kLengths[] = {1, 0, 17, 300, 2, 256, 257, 3};
    return kLengths[(3 * from + to) % 8];
  };
  run([&](core::Comm& comm) {
    Sizes out(comm, [&](int peer) { return length(comm.rank, peer); });
    Sizes in(comm, [&](int peer) { return length(peer, comm.rank); }), expected = in;
    for (int peer = 0; peer < comm.size(); ++peer) {
      out.fill(peer, comm.rank * comm.size() + peer);
      expected.fill(peer, peer * comm.size() + comm.rank);
    }
    Schedule s(comm);
    alltoall(s, out.blocks(), in.blocks());
    for (int again = 0; again < 2; ++again) EXPECT_TRUE(s.run().ok());
    EXPECT_EQ(in.values, expected.values);
  });
}

TEST_P(TwoStages, GiveEveryoneItsOwn) {
  run([&](core::Comm& comm) {
    const int size = comm.size();
    for (const int count : {1, 7, 300}) {
      const auto block = [&](int from, int to) { return operand(from * size + to, count); };
      std::vector<int> out, expected;
      for (int peer = 0; peer < size; ++peer) {
        for (const int value : block(comm.rank, peer)) out.push_back(value);
        for (const int value : block(peer, comm.rank)) expected.push_back(value);
      }
      std::vector<int> in(out.size(), -1);
      Schedule s(comm);
      alltoall(s, ints(out), ints(in));
      EXPECT_TRUE(s.run().ok());
      EXPECT_EQ(in, expected);
      Schedule in_place(comm);
      alltoall(in_place, ints(out), ints(out));
      EXPECT_TRUE(in_place.run().ok());
      EXPECT_EQ(out, expected);
    }
  });
}

// A receive datatype with gaps, so that blocks are unpacked where they belong.
TEST_P(TwoStages, FillGaps) {
  run([&](core::Comm& comm) {
    const auto type = datatype::predefined(MPI_SHORT_INT);
    struct Pair {
      short first;
      int second;
      bool operator==(const Pair& other) const { return first == other.first && second == other.second; }
    };
    static_assert(sizeof(Pair) == 8);
    std::vector<Pair> all(static_cast<std::size_t>(comm.size())), expected;
    for (int rank = 0; rank < comm.size(); ++rank) expected.push_back({static_cast<short>(rank), -rank});
    Pair mine = expected[static_cast<std::size_t>(comm.rank)];
    Schedule s(comm);
    allgather(s, {&mine, 1, type}, {all.data(), comm.size(), type});
    EXPECT_TRUE(s.run().ok());
    EXPECT_EQ(all, expected);
  });
}

TEST_P(TwoStages, LeaveNoBarrierEarly) {
  std::atomic<int> entered = 0;
  Job(size(), {}, GetParam()).run([&](core::Comm& comm) {
    for (int round = 1; round <= 20; ++round) {
      ++entered;
      Schedule s(comm);
      barrier(s);
      EXPECT_TRUE(s.run().ok());
      EXPECT_GE(entered, round * size());
    }
  });
}

// The error names the rank of the block, although the block came with others.
TEST(StagesOfTwoHosts, SayWhoseSizeDiffers) {
  Job(4, {}, {0, 0, 1, 1}).run([](core::Comm& comm) {
    Sizes sizes(comm, [](int) { return 2; });
    std::vector<int> mine(comm.rank == 3 ? 1 : 2);
    Schedule s(comm);
    gatherv(s, ints(mine), sizes.blocks(), 0);
    const base::Status outcome = s.run();
    if (comm.rank != 0) return;
    EXPECT_EQ(outcome.code() & base::Status::kClassMask, MPI_ERR_TRUNCATE);
    EXPECT_TRUE(std::string(base::message_of(outcome.code()))
                    .starts_with("rank 3 sent 4 bytes where rank 0 expects 8"));
  });
}

TEST(StagesOfFourHosts, AreForRanksOfWhichSomeAreTogether) {
  const auto hosts = [](std::vector<int> nodes, const std::function<void(const Hosts*)>& look) {
    Job(static_cast<int>(nodes.size()), {}, nodes).run([&](core::Comm& comm) { look(hosts_of(comm)); });
  };
  hosts({0, 0, 0}, [](const Hosts* found) { EXPECT_EQ(found, nullptr); });
  hosts({0, 1, 2}, [](const Hosts* found) { EXPECT_EQ(found, nullptr); });
  hosts({4, 4, 2, 4, 2, 0}, [](const Hosts* found) {
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->count(), 3);
    EXPECT_FALSE(found->consecutive());
    EXPECT_FALSE(found->even());
    EXPECT_EQ(std::vector<int>(found->by_host().begin(), found->by_host().end()),
              (std::vector{0, 1, 3, 2, 4, 5}));
    EXPECT_EQ(found->host_of(4), 1);
  });
  hosts({4, 4, 2, 2}, [](const Hosts* found) {
    ASSERT_NE(found, nullptr);
    EXPECT_TRUE(found->consecutive());
    EXPECT_TRUE(found->even());
  });
}

}  // namespace
}  // namespace clump::coll
