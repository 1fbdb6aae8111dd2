// Teams of ranks that are at home at different numbers of workers, in different orders: what the leaders do
// with each other. What the MPI functions make of it is tested in tests/mpi/collectives.
#include "coll/team.h"

#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "coll/test_ranks.h"

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
         {2, 120, 300, 3000}) {  // carried, carried, by leaders, by everyone; or by messages
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

TEST_P(Teams, BringEveryBlockToItsPlace) {
  const Map map = GetParam();
  const int size = map.ranks;
  Job(size, map.homes()).run([&](core::Comm& comm) {
    for (const int count : {1, 100, 700, 20000 / size}) {
      std::vector<int> everything;
      for (int rank = 0; rank < size; ++rank) {
        const std::vector<int> block = operand(rank, count);
        everything.insert(everything.end(), block.begin(), block.end());
      }
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
      status = broadcast(comm, ints(result), odd_one ? 1 : 0);
      EXPECT_EQ(status.error_class(), MPI_ERR_ROOT);
      status = odd_one ? barrier(comm) : broadcast(comm, ints(result), 0);
      EXPECT_EQ(status.error_class(), MPI_ERR_OTHER);
      EXPECT_NE(text_of(status).find("barrier"), std::string::npos);
      std::vector<int> much(odd_one ? 10 : 100000);
      status = broadcast(comm, ints(much), 0);
      EXPECT_EQ(status.error_class(), odd_one ? MPI_ERR_TRUNCATE : MPI_SUCCESS);
      EXPECT_TRUE(barrier(comm).ok());
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
  std::mt19937 random(map.ranks * 100 + map.workers);
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
