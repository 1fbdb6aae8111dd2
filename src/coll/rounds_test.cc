// Rounds of all algorithms, and of all combinations of an algorithm with those of its parts: the steps of a
// round are in progress together, so no memory that is received into may be sent, or received into again, in
// the same round. Schedules are written and read here; none of them is run.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "coll/hierarchical/hosts.h"
#include "coll/test_calls.h"
#include "coll/test_ranks.h"
#include "core/rank.h"

namespace clump::coll {

/// The rounds of a schedule that has been written.
class WrittenRounds {
 public:
  explicit WrittenRounds(const Schedule& s) : s_(s) {}

  /// The first two steps of a round that use the same memory, one of which writes it; empty: there are none.
  std::string conflict() const {
    for (std::size_t begin = 0; begin < s_.steps_.size();) {
      const std::size_t count = s_.round_at(begin);
      for (std::size_t i = begin; i < begin + count; ++i)
        for (std::size_t j = begin; j < begin + count; ++j)
          if (i != j && writes(s_.steps_[i]) && overlap(s_.steps_[i], s_.steps_[j]))
            return "steps " + std::to_string(i) + " and " + std::to_string(j) + " of " +
                   std::to_string(s_.steps_.size());
      begin += count + 1;
    }
    return {};
  }

  /// A copy that begins in scratch memory of the schedule and ends behind it; empty: there is none.
  std::string overrun() const {
    for (const Step& step : s_.steps_)
      if (step.kind == Step::Kind::kCopy)
        for (const Layout& side : {step.first, step.second})
          for (const Scratch& buffer : s_.buffers_) {
            const auto* const begin = static_cast<const std::byte*>(side.base);
            const std::byte* const end = buffer.get() + buffer.get_deleter().bytes;
            if (begin >= buffer.get() && begin < end && begin + side.bytes() > end)
              return std::to_string(begin + side.bytes() - end) + " bytes of " + std::to_string(side.bytes());
          }
    return {};
  }

 private:
  using Step = Schedule::Step;
  static bool writes(const Step& step) {
    return step.kind == Step::Kind::kReceive || step.kind == Step::Kind::kReceiveUpTo;
  }
  /// Layouts in this test are dense, or of nothing.
  bool overlap(const Step& one, const Step& other) const {
    const Layout a = memory(one), b = memory(other);
    const auto first = reinterpret_cast<std::uintptr_t>(a.base),
               second = reinterpret_cast<std::uintptr_t>(b.base);
    const auto first_bytes = static_cast<std::uintptr_t>(a.bytes()),
               second_bytes = static_cast<std::uintptr_t>(b.bytes());
    return first_bytes > 0 && second_bytes > 0 && first < second + second_bytes &&
           second < first + first_bytes;
  }
  Layout memory(const Step& step) const {
    if (step.kind == Step::Kind::kSendThen) return s_.thens_[static_cast<std::size_t>(step.first.count)]();
    return step.first;
  }
  const Schedule& s_;
};

namespace {

using enum Collective;

/// Which collectives an algorithm of this one may have as parts.
std::vector<Collective> parts_of(Collective collective, bool hosts) {
  switch (collective) {
    case kAllreduce:
      return {kReduce, kBroadcast, kAllreduce};
    case kAllgather:
      return {kGather, kBroadcast, kAllgather};
    case kAllgatherv:
      return {kBroadcast, kAllgatherv};
    case kAlltoall:
      return {kGather, kScatter, kAlltoall};
    case kReduceScatter:
      return {kReduce, kReduceScatter};
    case kScan:
      return hosts ? std::vector{kBroadcast, kScan} : std::vector{kScan};
    default:
      return {collective};
  }
}

bool is_of_messages(Algorithm algorithm) {
  return !is_for_teams(algorithm) && algorithm != Algorithm::kShmNonblocking &&
         algorithm != Algorithm::kNodeShm;
}

/// Calls act() with each combination of algorithms of `parts` as what the caller's rank wants.
void for_each_choice(core::Rank& rank, std::span<const Collective> parts, const std::function<void()>& act) {
  if (parts.empty()) return act();
  auto& wanted = rank.collectives.wanted[static_cast<std::size_t>(parts.front())];
  for (int algorithm = 0; algorithm <= kAlgorithms; ++algorithm) {  // the last one: no two stages anywhere
    if (algorithm < kAlgorithms && (!is_of_messages(Algorithm(algorithm)) ||
                                    !limits_of(parts.front(), Algorithm(algorithm)).has_value()))
      continue;
    wanted.store(static_cast<std::uint8_t>(algorithm + 1));
    for_each_choice(rank, parts.subspan(1), act);
  }
  wanted.store(0);
}

std::string choice_of(core::Rank& rank) {
  std::string text;
  for (int i = 0; i < kCollectives; ++i)
    if (const int wanted = rank.collectives.wanted[static_cast<std::size_t>(i)].load(); wanted != 0)
      text += std::string(" ") + name_of(Collective(i)) + "=" +
              (wanted > kAlgorithms ? "flat" : name_of(Algorithm(wanted - 1)));
  return text;
}

/// Buffers of one rank, as long as its longest part times the ranks: nothing is read or written.
struct Memory {
  explicit Memory(int size, Count count)
      : in(static_cast<std::size_t>(size * count)),
        out(in.size()),
        each(static_cast<std::size_t>(size), count) {
    for (int i = 0; i < size; ++i) begins.push_back(i * count);
  }
  Blocks blocks(std::vector<int>& of) const {
    return {of.data(), each.data(), begins.data(), datatype::predefined(MPI_INT)};
  }
  std::vector<int> in, out;
  std::vector<Count> each, begins;
};

/// Writes the collective with blocks, or operands, of `count` elements.
void write(Schedule& s, core::Comm& comm, Collective collective, const Reduction& reduction, Memory& memory,
           int root, bool in_place) {
  const Count count = memory.each.front();
  const bool here = comm.rank == root;
  const Layout in = ints(memory.in), all = ints(memory.out);
  const Layout own = part(all, comm.rank * count, count), block = part(in, 0, count);
  const Layout mine = in_place ? own : block;
  const Blocks in_blocks = memory.blocks(memory.in), blocks = memory.blocks(memory.out);
  const Layout operand = in_place ? all : in, nothing{nullptr, in.count, in.type};
  switch (collective) {
    case kBarrier:
      return barrier(s);
    case kBroadcast:
      return broadcast(s, in, root);
    case kReduce:
      return reduce(s, here ? operand : in, here ? all : nothing, root);
    case kAllreduce:
      return allreduce(s, operand, all);
    case kGather:
      return gather(s, here ? mine : block, here ? all : Layout{}, root);
    case kGatherv:
      return gatherv(s, here ? mine : block, blocks, root);
    case kScatter:
      return scatter(s, here ? all : Layout{}, here ? mine : block, root);
    case kScatterv:
      return scatterv(s, blocks, here ? mine : block, root);
    case kAllgather:
      return allgather(s, mine, all);
    case kAllgatherv:
      return allgatherv(s, mine, blocks);
    case kAlltoall:
      return alltoall(s, operand, all);
    case kAlltoallv:
      return alltoall(s, in_place ? blocks : in_blocks, blocks);
    case kReduceScatter:
      return coll::write(
          s, Call::reduce_scatter_block(comm, reduction, in, in_place ? block : part(all, 0, count)));
    case kScan:
      scan(s, operand, all);
      s.next();
      return exscan(s, operand, all);
    case kNeighbours:
      return;
  }
}

class Rounds : public testing::TestWithParam<std::vector<int>> {};

INSTANTIATE_TEST_SUITE_P(Hosts, Rounds,
                         testing::Values(std::vector(1, 0), std::vector(2, 0), std::vector(3, 0),
                                         std::vector(4, 0), std::vector(5, 0), std::vector(6, 0),
                                         std::vector(7, 0), std::vector(8, 0), std::vector(9, 0),
                                         std::vector{0, 0, 1, 1}, std::vector{0, 0, 0, 1, 1, 2, 3, 3},
                                         std::vector{2, 1, 0, 0, 1, 2, 2, 5},
                                         std::vector{0, 0, 0, 1, 1, 1, 2, 2, 2}),
                         [](const auto& info) {
                           return std::to_string(info.param.size()) + "_ranks_" + std::to_string(info.index);
                         });

// A whole of which no rank has a piece, one with some for each, and one that leaders divide.
TEST_P(Rounds, UseNoMemoryTwice) {
  const std::vector<int>& nodes = GetParam();
  const int size = static_cast<int>(nodes.size());
  const bool hosts = nodes.front() != nodes.back();
  const core::Op sum(MPI_SUM), ordered(compose, false);
  Job(size, {}, nodes).run([&](core::Comm& comm) {
    for (const Count count : {Count{1}, Count{40}, Count{40'000}}) {
      Memory memory(size, count);
      for (int i = 0; i < kCollectives; ++i)
        for_each_choice(comm.owner, parts_of(Collective(i), hosts), [&] {
          for (const core::Op* const op : {&sum, &ordered})
            for (const int root : {0, size - 1})
              for (const bool in_place : {false, true}) {
                const Reduction reduction{op, MPI_INT};
                Schedule s(comm, reduction);
                write(s, comm, Collective(i), reduction, memory, root, in_place);
                EXPECT_EQ(WrittenRounds(s).conflict(), "")
                    << name_of(Collective(i)) << " of " << count << " elements, rank " << comm.rank
                    << ", root " << root << (op == &sum ? "" : ", in order")
                    << (in_place ? ", in place:" : ":") << choice_of(comm.owner);
              }
        });
    }
  });
}

// The root's buffer has longer blocks than the other one: the trees pack them where subtrees go round its
// end.
TEST(RoundsOfTrees, StayInTheirMemory) {
  constexpr int kSize = 9;
  constexpr Count kCount = 200;
  Job(kSize).run([&](core::Comm& comm) {
    Memory memory(kSize, 4 * kCount);
    const Layout all = ints(memory.out), mine = part(ints(memory.in), 0, kCount);
    for (int root = 0; root < kSize; ++root) {
      Schedule gathers(comm), scatters(comm);
      gather_binomial(gathers, mine, comm.rank == root ? all : Layout{}, root);
      scatter_binomial(scatters, comm.rank == root ? all : Layout{}, mine, root);
      EXPECT_EQ(WrittenRounds(gathers).overrun(), "");
      EXPECT_EQ(WrittenRounds(scatters).overrun(), "");
    }
  });
}

}  // namespace
}  // namespace clump::coll
