// Teams of ranks that are at home at different numbers of workers, in different orders: what the leaders do
// with each other. What the MPI functions make of it is tested in tests/mpi/collectives.
#include "coll/shared/team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coll/test_ranks.h"
#include "seed.h"

namespace clump::coll {
namespace {

/// Where ranks are at home: in blocks, or dealt out one by one, so that groups are not in the order of ranks.
struct Map {
  int ranks, workers;
  bool dealt;
  std::vector<int> homes() const {
    std::vector<int> homes(ranks);
    for (int rank = 0; rank < ranks; ++rank) homes[rank] = dealt ? rank % workers : rank * workers / ranks;
    return homes;
  }
};

void PrintTo(const Map& map, std::ostream* out) {
  *out << map.ranks << "on" << map.workers << (map.dealt ? "dealt" : "inblocks");
}

class Teams : public testing::TestWithParam<Map> {};
INSTANTIATE_TEST_SUITE_P(Maps, Teams,
                         testing::Values(Map{2, 1, false}, Map{2, 2, false}, Map{3, 3, false},
                                         Map{5, 2, true}, Map{6, 3, true}, Map{6, 6, false}, Map{7, 4, false},
                                         Map{10, 5, true}, Map{12, 7, false}, Map{16, 2, false},
                                         Map{16, 16, false}, Map{23, 11, true}),
                         testing::PrintToStringParamName());

TEST_P(Teams, AreFoundAndKnowTheirOrder) {
  const Map map = GetParam();
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    EXPECT_EQ(Team::of(*comm.owner.comm_self), nullptr);
    Team* const team = Team::of(comm);
    ASSERT_NE(team, nullptr);
    EXPECT_EQ(team, Team::of(comm));
    EXPECT_EQ(team->size(), map.ranks);
    EXPECT_EQ(team->ordered(), !map.dealt);
    EXPECT_TRUE(barrier(comm).ok());
    EXPECT_TRUE(comm.owner.world.teams.forming.empty());  // all have found it
  });
}

TEST_P(Teams, LeaveNoBarrierEarly) {
  const Map map = GetParam();
  std::atomic<int> entered = 0;
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    for (int round = 1; round <= 100; ++round) {
      ++entered;
      EXPECT_TRUE(barrier(comm).ok());
      EXPECT_GE(entered, round * map.ranks);
    }
  });
}

TEST_P(Teams, ReduceInTheOrderOfRanks) {
  const Map map = GetParam();
  const core::Op ordered(compose, false), sum(MPI_SUM);
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    for (const int count :
         {2, 120, 300, 3000}) {  // carried, carried, by leaders, by all ranks; or by messages
      const std::vector<int> all = composed(map.ranks - 1, count), untouched(count, -1);
      std::vector<int> sums(count);
      for (int rank = 0; rank < map.ranks; ++rank) {
        const std::vector<int> terms = operand(rank, count);
        for (int i = 0; i < count; ++i) sums[i] += terms[i];
      }
      std::vector<int> in = operand(comm.rank, count), out(count);
      EXPECT_TRUE(allreduce(comm, {&ordered, MPI_INT}, ints(in), ints(out)).ok());
      EXPECT_EQ(out, all);
      EXPECT_TRUE(allreduce(comm, {&sum, MPI_INT}, ints(in), ints(out)).ok());
      EXPECT_EQ(out, sums);
      EXPECT_EQ(in, operand(comm.rank, count));
      for (const int root : {0, map.ranks - 1}) {
        const bool here = comm.rank == root;
        out = untouched;
        EXPECT_TRUE(reduce(comm, {&ordered, MPI_INT}, ints(in), ints(out), root).ok());
        EXPECT_EQ(out, here ? all : untouched);
        out = in;
        EXPECT_TRUE(reduce(comm, {&sum, MPI_INT}, here ? ints(out) : ints(in), ints(out), root).ok());
        EXPECT_EQ(out, here ? sums : in);
      }
      EXPECT_TRUE(allreduce(comm, {&sum, MPI_INT}, ints(in), ints(in)).ok());
      EXPECT_EQ(in, sums);
    }
  });
}

/// Every rank calls what moves blocks of `count` numbers.
void move_blocks(Job& job, int size, int count) {
  std::vector<int> everything;
  for (int rank = 0; rank < size; ++rank) {
    const std::vector<int> block = operand(rank, count);
    everything.insert(everything.end(), block.begin(), block.end());
  }
  job.run([&](core::Comm& comm) {
    std::vector<int> mine = operand(comm.rank, count), all(count * size), back(count);
    EXPECT_TRUE(allgather(comm, ints(mine), ints(all)).ok());
    EXPECT_EQ(all, everything);
    for (int root = 0; root < size; root += 1 + size / 4) {
      const bool here = comm.rank == root;
      std::vector<int> gathered(count * size, -1);
      EXPECT_TRUE(gather(comm, ints(mine), ints(gathered), root).ok());
      EXPECT_EQ(gathered, here ? everything : std::vector<int>(count * size, -1));
      EXPECT_TRUE(scatter(comm, ints(gathered), ints(back), root).ok());
      EXPECT_EQ(back, mine);
      EXPECT_TRUE(broadcast(comm, ints(gathered), root).ok());
      EXPECT_EQ(gathered, everything);
    }
    std::vector<int> out(count * size), in(count * size), expected(count * size);
    for (int i = 0; i < count * size; ++i) {
      out[i] = comm.rank * 1000000 + i;
      expected[i] = i / count * 1000000 + comm.rank * count + i % count;
    }
    EXPECT_TRUE(alltoall(comm, ints(out), ints(in)).ok());
    EXPECT_EQ(in, expected);
    EXPECT_TRUE(alltoall(comm, ints(out), ints(out)).ok());
    EXPECT_EQ(out, expected);
  });
}

TEST_P(Teams, BringEveryBlockToItsPlace) {
  const int size = GetParam().ranks;
  Job job(size, GetParam().homes());
  for (const int count : {1, 100, 700, 20000 / size}) move_blocks(job, size, count);
}

TEST(LargeTeams, BringWhatNoCacheHolds) {
  Job job(3, {0, 1, 2});
  move_blocks(job, 3, 3'000'007);
}

TEST(LargeTeams, CombineWhatNoCacheHolds) {
  constexpr int kRanks = 3, kCount = 3'000'007;
  const core::Op sum(MPI_SUM);
  std::vector<int> sums(kCount);
  for (int rank = 0; rank < kRanks; ++rank) {
    const std::vector<int> terms = operand(rank, kCount);
    for (int i = 0; i < kCount; ++i) sums[i] += terms[i];
  }
  Job(kRanks, {0, 1, 2}).run([&](core::Comm& comm) {
    std::vector<int> in = operand(comm.rank, kCount), out(kCount), root_has(kCount, -1);
    EXPECT_TRUE(allreduce(comm, {&sum, MPI_INT}, ints(in), ints(out)).ok());
    EXPECT_EQ(out, sums);
    EXPECT_TRUE(reduce(comm, {&sum, MPI_INT}, ints(in), ints(root_has), 1).ok());
    EXPECT_EQ(root_has, comm.rank == 1 ? sums : std::vector<int>(kCount, -1));
    EXPECT_TRUE(allreduce(comm, {&sum, MPI_INT}, ints(in), ints(in)).ok());
    EXPECT_EQ(in, sums);
  });
}

/// So many elements go from one rank to another: some none.
int amount(int from, int to) { return (from * 5 + to * 3) % 7 * 40; }

/// The blocks that `rank` gives to, or gets from, all ranks, with a gap before each; -1 everywhere, or
/// filled.
struct Uneven {
  std::vector<int> counts, places, data;

  Uneven(int rank, int size, bool outgoing, bool filled) {
    int end = 0;
    for (int peer = 0; peer < size; ++peer) {
      const int from = outgoing ? rank : peer, to = outgoing ? peer : rank;
      counts.push_back(amount(from, to));
      places.push_back(end + 1);
      end += 1 + counts.back();
      data.resize(end, -1);
      for (int i = 0; filled && i < counts.back(); ++i) data[places.back() + i] = value(from, to, i);
    }
  }
  static int value(int from, int to, int i) { return from * 1000000 + to * 1000 + i; }
  Blocks blocks() { return {data.data(), counts.data(), places.data(), datatype::predefined(MPI_INT)}; }
  Layout block(int peer) { return blocks()[peer]; }
};

TEST_P(Teams, BringBlocksOfAllSizes) {
  const Map map = GetParam();
  const int size = map.ranks;
  Job(size, map.homes()).run([&](core::Comm& comm) {
    const int me = comm.rank;
    Uneven out(me, size, true, true), in(me, size, false, false);
    const Uneven expected(me, size, false, true), untouched(in);
    EXPECT_TRUE(alltoall(comm, out.blocks(), in.blocks()).ok());
    EXPECT_EQ(in.data, expected.data);
    for (int root = 0; root < size; root += 1 + size / 4) {
      in.data = untouched.data;
      EXPECT_TRUE(gatherv(comm, out.block(root), in.blocks(), root).ok());
      EXPECT_EQ(in.data, me == root ? expected.data : untouched.data);
      in.data = untouched.data;
      EXPECT_TRUE(scatterv(comm, out.blocks(), in.block(root), root).ok());
      for (int i = 0; i < in.counts[root]; ++i)
        EXPECT_EQ(in.data[in.places[root] + i], Uneven::value(root, me, i));
    }
    // To all what is meant for rank 0.
    Uneven gathered(0, size, false, false);
    EXPECT_TRUE(allgatherv(comm, out.block(0), gathered.blocks()).ok());
    EXPECT_EQ(gathered.data, Uneven(0, size, false, true).data);
    // In place, both of a pair have blocks of one size.
    std::vector<int> counts(size), places(size), data;
    for (int peer = 0; peer < size; ++peer) {
      counts[peer] = (me * peer + me + peer) % 5 * 1000;
      places[peer] = static_cast<int>(data.size());
      data.resize(data.size() + counts[peer], me * 100 + peer);
    }
    const Blocks both(data.data(), counts.data(), places.data(), datatype::predefined(MPI_INT));
    EXPECT_TRUE(alltoall(comm, both, both).ok());
    for (int peer = 0; peer < size; ++peer)
      EXPECT_EQ(std::vector(data.begin() + places[peer], data.begin() + places[peer] + counts[peer]),
                std::vector(counts[peer], peer * 100 + me));
  });
}

TEST_P(Teams, ScanInTheOrderOfRanks) {
  const Map map = GetParam();
  const core::Op ordered(compose, false), sum(MPI_SUM);
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    for (const int count : {0, 2, 300, 5000}) {
      std::vector<int> upto(count), below(count, -1);
      for (int rank = 0; rank <= comm.rank; ++rank) {
        if (rank > 0) below = upto;
        const std::vector<int> terms = operand(rank, count);
        for (int i = 0; i < count; ++i) upto[i] += terms[i];
      }
      std::vector<int> in = operand(comm.rank, count), out(count, -1);
      EXPECT_TRUE(scan(comm, {&sum, MPI_INT}, ints(in), ints(out)).ok());
      EXPECT_EQ(out, upto);
      out.assign(count, -1);
      EXPECT_TRUE(exscan(comm, {&sum, MPI_INT}, ints(in), ints(out)).ok());
      EXPECT_EQ(out, below);
      EXPECT_EQ(in, operand(comm.rank, count));
      std::vector<int> both = in;
      EXPECT_TRUE(scan(comm, {&sum, MPI_INT}, ints(both), ints(both)).ok());
      EXPECT_EQ(both, upto);
      EXPECT_TRUE(exscan(comm, {&sum, MPI_INT}, ints(in), ints(in)).ok());
      EXPECT_EQ(in, comm.rank == 0 ? operand(0, count) : below);
      in = operand(comm.rank, count);
      EXPECT_TRUE(scan(comm, {&ordered, MPI_INT}, ints(in), ints(out)).ok());
      EXPECT_EQ(out, composed(comm.rank, count));
    }
  });
}

TEST_P(Teams, ReduceAndScatter) {
  const Map map = GetParam();
  const int size = map.ranks;
  const core::Op sum(MPI_SUM);
  Job(size, map.homes()).run([&](core::Comm& comm) {
    for (const int unit : {0, 1, 50, 1500}) {
      std::vector<int> counts(size);
      int whole = 0, first = 0;
      for (int rank = 0; rank < size; ++rank) {
        if (rank == comm.rank) first = whole;
        whole += counts[rank] = (rank * 3 + 1) % 4 * unit;
      }
      std::vector<int> sums(whole);
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> terms = operand(rank, whole);
        for (int i = 0; i < whole; ++i) sums[i] += terms[i];
      }
      std::vector<int> in = operand(comm.rank, whole), out(counts[comm.rank]);
      const std::vector<int> mine(sums.begin() + first, sums.begin() + first + counts[comm.rank]);
      const core::Op* const op = &sum;
      EXPECT_TRUE(reduce_scatter(comm, {op, MPI_INT}, ints(in), ints(out), counts.data()).ok());
      EXPECT_EQ(out, mine);
      EXPECT_EQ(in, operand(comm.rank, whole));
      const Layout in_place{in.data(), counts[comm.rank], datatype::predefined(MPI_INT)};
      EXPECT_TRUE(reduce_scatter(comm, {op, MPI_INT}, in_place, in_place, counts.data()).ok());
      EXPECT_EQ(std::vector(in.begin(), in.begin() + counts[comm.rank]), mine);

      std::vector<int> blocks = operand(comm.rank, unit * size), block(unit), expected(unit);
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> terms = operand(rank, unit * size);
        for (int i = 0; i < unit; ++i) expected[i] += terms[comm.rank * unit + i];
      }
      EXPECT_TRUE(reduce_scatter_block(comm, {op, MPI_INT}, ints(blocks), ints(block)).ok());
      EXPECT_EQ(block, expected);
    }
  });
}

std::string text_of(base::Status status) { return base::message_of(status.code()); }

TEST_P(Teams, TellWhoDisagrees) {
  const Map map = GetParam();
  const int last = map.ranks - 1;
  const core::Op sum(MPI_SUM);
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    const bool odd_one = comm.rank == last;
    std::vector<int> some(odd_one ? 3 : 5, comm.rank), all(5 * map.ranks), result(5);
    for (int repeat = 0; repeat < 3; ++repeat) {
      // The size.
      base::Status status = broadcast(comm, ints(some), 0);
      EXPECT_EQ(status.error_class(), odd_one ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      if (odd_one) {
        EXPECT_NE(
            text_of(status).find("rank 0 sent 20 bytes where rank " + std::to_string(last) + " expects 12"),
            std::string::npos)
            << text_of(status);
      }
      status = gather(comm, ints(some), ints(all), 0);
      EXPECT_EQ(status.error_class(), comm.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      status = allreduce(comm, {&sum, MPI_INT}, ints(some), ints(some));
      EXPECT_EQ(status.error_class(), MPI_ERR_TRUNCATE);
      // One rank's own buffers.
      std::vector<int> mine(odd_one ? 6 : 5);
      status = allgather(comm, ints(mine), ints(all));
      EXPECT_EQ(status.error_class(), MPI_ERR_TRUNCATE);
      // The root, and the operation; in the end a larger size on one side, which is another algorithm.
      std::vector<int> long_result(500);
      status = broadcast(comm, ints(long_result), odd_one ? 1 : 0);
      EXPECT_EQ(status.error_class(), MPI_ERR_ROOT);
      status = odd_one ? barrier(comm) : broadcast(comm, ints(long_result), 0);
      EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
      EXPECT_NE(text_of(status).find("MPI_Barrier"), std::string::npos);
      status = odd_one ? scan(comm, {&sum, MPI_INT}, ints(result), ints(result))
                       : exscan(comm, {&sum, MPI_INT}, ints(result), ints(result));
      EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
      // Blocks that may differ: only the rank that gets one can see it.
      const std::vector<int> ones(map.ranks, 1), zeros(map.ranks);
      std::vector<int> places(map.ranks), fitting(map.ranks);
      std::iota(places.begin(), places.end(), 0);
      const auto* const type = datatype::predefined(MPI_INT);
      const Blocks out(fitting.data(), odd_one ? zeros.data() : ones.data(), places.data(), type);
      const Blocks in(all.data(), ones.data(), places.data(), type);
      status = alltoall(comm, out, in);
      EXPECT_EQ(status.error_class(), MPI_ERR_TRUNCATE);
      EXPECT_NE(text_of(status).find("rank " + std::to_string(last) + " sent 0 bytes"), std::string::npos)
          << text_of(status);
      status = gatherv(comm, out[0], in, 0);
      EXPECT_EQ(status.error_class(), comm.rank == 0 ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      status = allgatherv(comm, out[0], in);
      EXPECT_EQ(status.error_class(), MPI_ERR_TRUNCATE);
      status = scatterv(comm, out, in[0], last);
      EXPECT_EQ(status.error_class(), MPI_ERR_TRUNCATE);
      status = odd_one ? allgatherv(comm, out[0], in) : alltoall(comm, in, in);
      EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
      std::vector<int> much(odd_one ? 1000 : 100000);
      status = broadcast(comm, ints(much), 0);
      EXPECT_EQ(status.error_class(), odd_one ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      EXPECT_TRUE(barrier(comm).ok());
    }
  });
}

// Their root waits for no rank, so only a rank that fetches something else can see it at once.
TEST_P(Teams, TellWhoDisagreesAboutSmallBroadcasts) {
  const Map map = GetParam();
  std::atomic<int> wrong = 0, posted = 0;
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    const bool odd_one = comm.rank == map.ranks - 1;
    std::vector<int> data(5, comm.rank);
    for (int repeat = 1; repeat <= 20; ++repeat) {
      // Where there are two ranks, both are roots: the second one sees it.
#ifdef __SANITIZE_THREAD__
      // At the same moment both may write to the slot, which harms only a program that is wrong.
      while (map.ranks == 2 && odd_one && posted < repeat) std::this_thread::yield();
#endif
      base::Status status = broadcast(comm, ints(data), odd_one ? 1 : 0);
      EXPECT_TRUE(status.ok() || status.error_class() == MPI_ERR_ROOT);
      if (map.ranks > 2) {
        EXPECT_EQ(!status.ok(), odd_one);
      }
      posted += !odd_one;
      wrong += !status.ok();
      EXPECT_TRUE(barrier(comm).ok());
      EXPECT_EQ(wrong, repeat);
      EXPECT_TRUE(barrier(comm).ok());
      // Another collective instead.
      if (!odd_one) {
        EXPECT_TRUE(broadcast(comm, ints(data), 0).ok());
      }
      status = barrier(comm);
      EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
      EXPECT_NE(text_of(status).find(" calls MPI_Bcast"), std::string::npos) << text_of(status);
      if (odd_one) {
        EXPECT_TRUE(broadcast(comm, ints(data), 0).ok());
      }
      EXPECT_TRUE(barrier(comm).ok());
    }
  });
}

TEST_P(Teams, HaveRootsThatRunAhead) {
  const Map map = GetParam();
  constexpr int kBroadcasts = 3000;
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    std::mt19937 same(1), own(static_cast<unsigned>(comm.rank));
    for (int i = 0; i < kBroadcasts; ++i) {
      // Mostly some in a row from one root.
      const int root = static_cast<int>((i % 64 < 40 ? static_cast<unsigned>(i / 64) : same()) %
                                        static_cast<unsigned>(map.ranks));
      std::vector<int> data(1 + same() % 120, comm.rank == root ? i : -1);
      const std::vector<int> expected(data.size(), i);
      ASSERT_TRUE(broadcast(comm, ints(data), root).ok());
      ASSERT_EQ(data, expected);
      if (own() % 64 == 0) std::this_thread::yield();
      if (same() % 256 == 0) {
        ASSERT_TRUE(barrier(comm).ok());
      }
    }
  });
}

class AnyTopology final : public core::Topology {
 public:
  AnyTopology(core::Neighbours sources, core::Neighbours destinations)
      : Topology(std::move(sources), std::move(destinations)) {}
  int kind() const override { return MPI_DIST_GRAPH; }
};

/// The ranks at the other end of the edges at one end of which `rank` is. Blocks are numbered from the last
/// one.
core::Neighbours neighbours(const std::vector<std::pair<int, int>>& edges, int rank, bool outgoing) {
  core::Neighbours found;
  for (const auto& [from, to] : edges)
    if ((outgoing ? from : to) == rank) found.in_order.push_back({outgoing ? to : from, 0});
  found.blocks = static_cast<int>(found.in_order.size());
  int block = found.blocks;
  for (core::Neighbour& neighbour : found.in_order) neighbour.block = --block;
  return found;
}

// With many edges between the same ranks, loops, and blocks of all sizes: as by messages.
TEST_P(Teams, ExchangeWithNeighbours) {
  const Map map = GetParam();
  std::mt19937 random(static_cast<unsigned>(test_seed(map.ranks * 100 + map.workers)));
  for (const int degree : {0, 1, 3, 12}) {
    std::vector<std::pair<int, int>> edges(degree * map.ranks);
    for (auto& [from, to] : edges) {
      from = static_cast<int>(random() % map.ranks);
      to = random() % 4 == 0 ? from : static_cast<int>(random() % map.ranks);
    }
    Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
      comm.topology = base::make_ref<AnyTopology>(neighbours(edges, comm.rank, false),
                                                  neighbours(edges, comm.rank, true));
      // The n-th edge has 3 n modulo 100 elements.
      std::vector<int> sizes[2], places[2];
      for (const bool outgoing : {false, true}) {
        for (std::size_t edge = 0; edge < edges.size(); ++edge)
          if ((outgoing ? edges[edge].first : edges[edge].second) == comm.rank)
            sizes[outgoing].insert(sizes[outgoing].begin(), static_cast<int>(edge * 3 % 100));
        int end = 0;
        for (const int size : sizes[outgoing]) places[outgoing].push_back(std::exchange(end, end + size));
        sizes[outgoing].push_back(end);
      }
      std::vector<int> out(sizes[1].back()), in(sizes[0].back()), by_messages(in);
      std::iota(out.begin(), out.end(), comm.rank * 1000000);
      const auto* const type = datatype::predefined(MPI_INT);
      const Blocks sent(out.data(), sizes[1].data(), places[1].data(), type);
      Schedule s(comm);
      exchange_with_neighbours(s, *comm.topology, sent,
                               {by_messages.data(), sizes[0].data(), places[0].data(), type});
      EXPECT_TRUE(s.run().ok());
      for (int repeat = 0; repeat < 3; ++repeat) {
        std::fill(in.begin(), in.end(), -1);
        EXPECT_TRUE(
            exchange_with_neighbours(comm, sent, {in.data(), sizes[0].data(), places[0].data(), type}).ok());
        EXPECT_EQ(in, by_messages);
      }
    });
  }
}

// Rank 0 names rank 1 twice, but is named once.
TEST_P(Teams, TellWhoIsNoNeighbour) {
  const Map map = GetParam();
  Job(map.ranks, map.homes()).run([&](core::Comm& comm) {
    std::vector<std::pair<int, int>> edges = {{1, 0}};
    core::Neighbours destinations = neighbours(edges, comm.rank, true);
    edges.emplace_back(1, 0);
    comm.topology = base::make_ref<AnyTopology>(neighbours(edges, comm.rank, false), std::move(destinations));
    std::vector<int> out{comm.rank}, in{-1, -1};
    const auto* const type = datatype::predefined(MPI_INT);
    const base::Status status = exchange_with_neighbours(comm, {out.data(), 1, type}, {in.data(), 1, type});
    EXPECT_EQ(status.error_class(), comm.rank == 0 ? MPI_ERR_TOPOLOGY : MPI_SUCCESS);
    EXPECT_EQ(in, comm.rank == 0 ? (std::vector<int>{-1, 1}) : (std::vector<int>{-1, -1}));
    EXPECT_TRUE(barrier(comm).ok());
  });
}

}  // namespace
}  // namespace clump::coll
