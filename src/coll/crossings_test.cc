// How many messages, and bytes, go from host to host: of each collective in two stages, and of what knows
// nothing of hosts. Both are as many as the theory says (decision 015).
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "coll/select/select.h"
#include "coll/test_calls.h"
#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

struct Crossings {
  int messages;
  Count bytes;
};

/// Writes one collective.
using Write = std::function<void(Schedule&)>;

/// What is asked for in place of what the table has.
struct Instead {
  Collective collective;
  Algorithm algorithm;
};

/// One run with ranks on these hosts.
Crossings run(const std::vector<int>& hosts, const Write& write, std::optional<Instead> instead = {}) {
  static const core::Op sum(MPI_SUM);
  Job job(static_cast<int>(hosts.size()), {}, hosts);
  job.run([&](core::Comm& comm) {
    auto& choices = comm.owner.collectives;
    if (instead)
      choices.wanted[static_cast<std::size_t>(instead->collective)] =
          static_cast<std::uint8_t>(static_cast<int>(instead->algorithm) + 1);
    Schedule s(comm, {&sum, MPI_INT});
    write(s);
    EXPECT_TRUE(s.run().ok());
    EXPECT_EQ(choices.used[static_cast<std::size_t>(Algorithm::kTwoStages)].value(), instead ? 0U : 1U);
  });
  return {job.crossings(), job.crossing_bytes()};
}

/// Buffers of all ranks.
class Data {
 public:
  explicit Data(std::size_t ranks) : in_(ranks, std::vector<int>(512 << 10)), out_(in_) {}
  Layout in(const Schedule& s, Count count) { return layout(in_, s, count); }
  Layout out(const Schedule& s, Count count) { return layout(out_, s, count); }

 private:
  static Layout layout(std::vector<std::vector<int>>& all, const Schedule& s, Count count) {
    return {all[static_cast<std::size_t>(s.rank())].data(), count, datatype::predefined(MPI_INT)};
  }
  std::vector<std::vector<int>> in_, out_;
};

class CrossingsOf : public testing::TestWithParam<std::vector<int>> {
 protected:
  const std::vector<int>& hosts_ = GetParam();
  const int ranks_ = static_cast<int>(hosts_.size());
  const int count_ = std::ranges::max(hosts_) + 1;  // of hosts
  const int rounds_ = std::bit_width(static_cast<unsigned>(count_ - 1));
  Data data_{hosts_.size()};

  bool crosses(int a, int b) const {
    return hosts_[static_cast<std::size_t>(a % ranks_)] != hosts_[static_cast<std::size_t>(b % ranks_)];
  }
  int elsewhere(int rank) const {
    int number = 0;
    for (int other = 0; other < ranks_; ++other) number += crosses(rank, other) ? 1 : 0;
    return number;
  }
  int pairs() const {
    int number = 0;
    for (int rank = 0; rank < ranks_; ++rank) number += elsewhere(rank);
    return number;
  }
  /// Each rank sends to the rank 1, 2, 4, ... further.
  int dissemination() const {
    int number = 0;
    for (int distance = 1; distance < ranks_; distance *= 2)
      for (int rank = 0; rank < ranks_; ++rank) number += crosses(rank, rank + distance) ? 1 : 0;
    return number;
  }
  int binomial(int root) const {
    int number = 0;
    for (int v = 1; v < ranks_; ++v) number += crosses(v + root, (v & (v - 1)) + root) ? 1 : 0;
    return number;
  }
  /// What is over a power of two of `ranks` folds in and out; the others exchange.
  static int doubling(int ranks, const std::function<bool(int, int)>& counts) {
    const int active = static_cast<int>(std::bit_floor(static_cast<unsigned>(ranks))), extra = ranks - active;
    const auto rank = [&](int i) { return i < extra ? 2 * i + 1 : i + extra; };
    int number = 0;
    for (int i = 0; i < extra; ++i) number += counts(2 * i, 2 * i + 1) ? 2 : 0;
    for (int distance = 1; distance < active; distance *= 2)
      for (int i = 0; i < active; ++i) number += counts(rank(i), rank(i ^ distance)) ? 1 : 0;
    return number;
  }
  int doubling() const {
    return doubling(ranks_, [this](int a, int b) { return crosses(a, b); });
  }
  int doubling_of_leaders() const {
    return doubling(count_, [](int, int) { return true; });
  }
};

constexpr const char* kShapes[] = {"Blocks4x4", "Turns4x4", "Uneven1and2and4"};
INSTANTIATE_TEST_SUITE_P(Shapes, CrossingsOf,
                         testing::Values(std::vector{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3},
                                         std::vector{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3},
                                         std::vector{0, 1, 1, 2, 2, 2, 2}),
                         [](const auto& info) { return kShapes[info.index]; });

TEST_P(CrossingsOf, Barrier) {
  const Write write = [](Schedule& s) { barrier(s); };
  EXPECT_EQ(run(hosts_, write).messages, count_ * rounds_);
  EXPECT_EQ(run(hosts_, write, Instead{Collective::kBarrier, Algorithm::kDissemination}).messages,
            dissemination());
}

TEST_P(CrossingsOf, Broadcast) {
  for (const int root : {0, ranks_ / 3}) {
    const Write write = [&](Schedule& s) { broadcast(s, data_.in(s, 2), root); };
    const Crossings two = run(hosts_, write);
    const Crossings one = run(hosts_, write, Instead{Collective::kBroadcast, Algorithm::kBinomial});
    EXPECT_EQ(two.messages, count_ - 1);
    EXPECT_EQ(two.bytes, (count_ - 1) * 8);
    EXPECT_EQ(one.messages, binomial(root));
    EXPECT_GE(one.messages, two.messages);
  }
}

TEST_P(CrossingsOf, Reduce) {
  for (const int root : {0, ranks_ / 3}) {
    const Write write = [&](Schedule& s) { reduce(s, data_.in(s, 2), data_.out(s, 2), root); };
    const Crossings two = run(hosts_, write);
    const Crossings one = run(hosts_, write, Instead{Collective::kReduce, Algorithm::kDirect});
    EXPECT_EQ(two.messages, count_ - 1);
    EXPECT_EQ(two.bytes, (count_ - 1) * 8);
    EXPECT_EQ(one.messages, elsewhere(root));
    EXPECT_GE(run(hosts_, write, Instead{Collective::kReduce, Algorithm::kBinomial}).messages, two.messages);
  }
}

TEST_P(CrossingsOf, Allreduce) {
  const Write write = [&](Schedule& s) { allreduce(s, data_.in(s, 2), data_.out(s, 2)); };
  const Crossings two = run(hosts_, write);
  const Crossings one = run(hosts_, write, Instead{Collective::kAllreduce, Algorithm::kRecursiveDoubling});
  EXPECT_EQ(two.messages, doubling_of_leaders());
  EXPECT_EQ(two.bytes, two.messages * 8);
  EXPECT_EQ(one.messages, doubling());
}

// A ring of leaders; or, from 256 KiB on and where all hosts have as many ranks, one for each place on a
// host.
TEST_P(CrossingsOf, LongAllreduce) {
  for (const Count count : {Count{32} << 10, Count{512} << 10}) {
    const Write write = [&](Schedule& s) { allreduce(s, data_.in(s, count), data_.out(s, count)); };
    const Crossings two = run(hosts_, write);
    const int rings = ranks_ == 16 && count * 4 >= among_leaders::kAllLead ? 4 : 1;
    EXPECT_EQ(two.messages, rings * count_ * 2 * (count_ - 1));
    EXPECT_EQ(two.bytes, 2 * (count_ - 1) * count * 4) << "no more than one leader would send";
  }
}

TEST_P(CrossingsOf, GatherAndScatter) {
  for (const int root : {0, ranks_ / 3}) {
    const Write to_root = [&](Schedule& s) { gather(s, data_.in(s, 3), data_.out(s, 3 * ranks_), root); };
    const Write from_root = [&](Schedule& s) { scatter(s, data_.in(s, 3 * ranks_), data_.out(s, 3), root); };
    for (const auto& [write, collective] :
         {std::pair(to_root, Collective::kGather), std::pair(from_root, Collective::kScatter)}) {
      const Crossings two = run(hosts_, write);
      const Crossings one = run(hosts_, write, Instead{collective, Algorithm::kDirect});
      EXPECT_EQ(two.messages, count_ - 1);
      EXPECT_EQ(one.messages, elsewhere(root));
      EXPECT_EQ(two.bytes, one.bytes);
      EXPECT_EQ(two.bytes, elsewhere(root) * 12);
    }
  }
}

// Packed blocks begin with a length of 8 bytes with each block.
TEST_P(CrossingsOf, GathervAndScatterv) {
  const std::vector<Count> counts(hosts_.size(), 3);
  std::vector<Count> places;
  for (Count rank = 0; rank < ranks_; ++rank) places.push_back(3 * rank);
  for (const int root : {0, ranks_ / 3}) {
    const auto blocks = [&](const Layout& all) {
      return Blocks(all.base, counts.data(), places.data(), all.type);
    };
    const Write to_root = [&](Schedule& s) {
      gatherv(s, data_.in(s, 3), blocks(data_.out(s, 3 * ranks_)), root);
    };
    const Write from_root = [&](Schedule& s) {
      scatterv(s, blocks(data_.in(s, 3 * ranks_)), data_.out(s, 3), root);
    };
    for (const auto& [write, collective] :
         {std::pair(to_root, Collective::kGatherv), std::pair(from_root, Collective::kScatterv)}) {
      const Crossings two = run(hosts_, write);
      EXPECT_EQ(two.messages, count_ - 1);
      EXPECT_EQ(two.bytes, elsewhere(root) * (12 + 8));
      EXPECT_EQ(run(hosts_, write, Instead{collective, Algorithm::kDirect}).messages, elsewhere(root));
    }
  }
}

TEST_P(CrossingsOf, Alltoallv) {
  const std::vector<Count> counts(hosts_.size(), 1);
  std::vector<Count> places;
  for (Count rank = 0; rank < ranks_; ++rank) places.push_back(rank);
  const Write write = [&](Schedule& s) {
    const Layout out = data_.in(s, ranks_), in = data_.out(s, ranks_);
    alltoall(s, Blocks(out.base, counts.data(), places.data(), out.type),
             Blocks(in.base, counts.data(), places.data(), in.type));
  };
  const Crossings two = run(hosts_, write);
  EXPECT_EQ(two.messages, count_ * (count_ - 1));
  EXPECT_EQ(two.bytes, pairs() * (4 + 8));
  EXPECT_EQ(run(hosts_, write, Instead{Collective::kAlltoallv, Algorithm::kDirect}).messages, pairs());
}

TEST_P(CrossingsOf, Allgather) {
  const Write write = [&](Schedule& s) { allgather(s, data_.in(s, 1), data_.out(s, ranks_)); };
  const Crossings two = run(hosts_, write);
  const Crossings one = run(hosts_, write, Instead{Collective::kAllgather, Algorithm::kBruck});
  EXPECT_EQ(two.messages, count_ * rounds_);
  EXPECT_EQ(one.messages, dissemination());
  // Each host gets each block of the others once.
  EXPECT_EQ(two.bytes, (count_ - 1) * ranks_ * 4);
  EXPECT_LE(two.bytes, one.bytes);
}

TEST_P(CrossingsOf, Allgatherv) {
  std::vector<Count> counts, places;
  for (Count rank = 0; rank < ranks_; ++rank) {
    counts.push_back(rank + 1);
    places.push_back(rank * (rank + 1) / 2);
  }
  const Write write = [&](Schedule& s) {
    const Layout all = data_.out(s, ranks_ * (ranks_ + 1) / 2);
    allgatherv(s, data_.in(s, s.rank() + 1), Blocks(all.base, counts.data(), places.data(), all.type));
  };
  const Crossings two = run(hosts_, write);
  const Crossings one = run(hosts_, write, Instead{Collective::kAllgatherv, Algorithm::kRing});
  EXPECT_EQ(two.messages, count_ * rounds_);
  EXPECT_EQ(two.bytes, (count_ - 1) * ranks_ * (ranks_ + 1) / 2 * 4);
  int neighbours = 0;
  for (int rank = 0; rank < ranks_; ++rank) neighbours += crosses(rank, rank + 1) ? 1 : 0;
  EXPECT_EQ(one.messages, neighbours * (ranks_ - 1));
}

// In two stages where the ranks of each host follow one another.
TEST_P(CrossingsOf, Scan) {
  const auto doubling_up = [](int ranks, const std::function<bool(int, int)>& counts) {
    int number = 0;
    for (int distance = 1; distance < ranks; distance *= 2)
      for (int i = 0; i + distance < ranks; ++i) number += counts(i, i + distance) ? 1 : 0;
    return number;
  };
  const int flat = doubling_up(ranks_, [this](int a, int b) { return crosses(a, b); });
  const bool has_two = std::ranges::is_sorted(hosts_);
  for (const Write& write : {Write([&](Schedule& s) { scan(s, data_.in(s, 2), data_.out(s, 2)); }),
                             Write([&](Schedule& s) { exscan(s, data_.in(s, 2), data_.out(s, 2)); })}) {
    const Instead prefix{Collective::kScan, Algorithm::kPrefixDoubling};
    EXPECT_EQ(run(hosts_, write, prefix).messages, flat);
    if (has_two) {
      EXPECT_EQ(run(hosts_, write).messages, doubling_up(count_, [](int, int) { return true; }));
    }
  }
}

TEST_P(CrossingsOf, Alltoall) {
  const Write write = [&](Schedule& s) { alltoall(s, data_.in(s, ranks_), data_.out(s, ranks_)); };
  const Crossings two = run(hosts_, write);
  const Crossings one = run(hosts_, write, Instead{Collective::kAlltoall, Algorithm::kDirect});
  EXPECT_EQ(two.messages, count_ * (count_ - 1));
  EXPECT_EQ(one.messages, pairs());
  EXPECT_EQ(two.bytes, one.bytes);
}

// So many times fewer messages between hosts, with 4 ranks on each of 4: by the number of ranks of a host
// where ranks have one partner at a time, by its square where each has a message for each.
TEST(CrossingsOfFourByFour, AreFewerByTheFactorOfTheTheory) {
  const std::vector hosts{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3};
  Data data(hosts.size());
  const auto factor = [&](Collective collective, Algorithm flat, const Write& write) {
    return run(hosts, write, Instead{collective, flat}).messages /
           static_cast<double>(run(hosts, write).messages);
  };
  EXPECT_EQ(factor(Collective::kAllreduce, Algorithm::kRecursiveDoubling,
                   [&](Schedule& s) { allreduce(s, data.in(s, 2), data.out(s, 2)); }),
            4);
  EXPECT_EQ(factor(Collective::kGather, Algorithm::kDirect,
                   [&](Schedule& s) { gather(s, data.in(s, 1), data.out(s, 16), 0); }),
            4);
  EXPECT_EQ(factor(Collective::kScatter, Algorithm::kDirect,
                   [&](Schedule& s) { scatter(s, data.in(s, 16), data.out(s, 1), 0); }),
            4);
  EXPECT_EQ(factor(Collective::kReduce, Algorithm::kDirect,
                   [&](Schedule& s) { reduce(s, data.in(s, 2), data.out(s, 2), 0); }),
            4);
  EXPECT_EQ(factor(Collective::kAlltoall, Algorithm::kDirect,
                   [&](Schedule& s) { alltoall(s, data.in(s, 16), data.out(s, 16)); }),
            16);
  EXPECT_EQ(factor(Collective::kBarrier, Algorithm::kDissemination, [](Schedule& s) { barrier(s); }), 5.5);
}

}  // namespace
}  // namespace clump::coll
