// Pending collectives of teams in different shapes: what comes of it when all have come. That workers do the
// work together is tested in tests/mpi/collectives and tests/stress.
#include "coll/shared/pending.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "coll/shared/request.h"
#include "coll/shared/team.h"
#include "coll/test_operations.h"
#include "coll/test_ranks.h"

namespace clump::coll {
namespace {

using Kind = CollectiveRequest::Kind;

struct Shape {
  int ranks, workers;
  std::vector<int> homes() const {
    std::vector<int> homes(ranks);
    for (int rank = 0; rank < ranks; ++rank) homes[rank] = rank * workers / ranks;
    return homes;
  }
};

void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.ranks << "on" << shape.workers; }

class Nonblocking : public testing::TestWithParam<Shape> {};
INSTANTIATE_TEST_SUITE_P(Shapes, Nonblocking,
                         testing::Values(Shape{2, 2}, Shape{3, 1}, Shape{3, 3}, Shape{8, 2}, Shape{9, 4},
                                         Shape{13, 13}),
                         testing::PrintToStringParamName());

// Blocks of bytes and of kilobytes: one does all the work, or shares are left.
constexpr int kSizes[] = {2, 300, 20000};

TEST_P(Nonblocking, ReduceWithinTheTeam) {
  const Shape shape = GetParam();
  const core::Op sum(MPI_SUM);
  for (const int count : kSizes) {
    if (shape.ranks == 2 && count < 2048) continue;  // goes by messages
    Job(shape.ranks, shape.homes()).run([&](core::Comm& comm) {
      const Reduction reduction{&sum, MPI_INT};
      const int size = shape.ranks, me = comm.rank;
      const auto sums_of = [&](int ranks, int first, int n) {
        std::vector<int> sums(n);
        for (int rank = 0; rank < ranks; ++rank) {
          const std::vector<int> terms = operand(rank, count * size);
          for (int i = 0; i < n; ++i) sums[i] += terms[first + i];
        }
        return sums;
      };
      std::vector<int> long_in = operand(me, count * size), in(long_in.begin(), long_in.begin() + count);
      std::vector<int> all(count), below(count), upto(count), mine(count), placed = long_in;
      const auto block = [&](std::vector<int>& data) { return Layout{data.data(), count, ints(data).type}; };
      std::vector<Operation> operations;
      operations.push_back(begun(comm, Call::allreduce(reduction, ints(in), ints(all))));
      operations.push_back(begun(comm, Call::exscan(reduction, ints(in), ints(below))));
      operations.push_back(begun(comm, Call::scan(reduction, ints(in), ints(upto))));
      operations.push_back(
          begun(comm, Call::reduce_scatter_block(comm, reduction, ints(long_in), ints(mine))));
      operations.push_back(
          begun(comm, Call::reduce_scatter_block(comm, reduction, ints(placed), block(placed))));
      for (const Operation& operation : operations) EXPECT_TRUE(end(*operation).ok());
      EXPECT_EQ(all, sums_of(size, 0, count));
      if (me > 0) {
        EXPECT_EQ(below, sums_of(me, 0, count));
      }
      EXPECT_EQ(upto, sums_of(me + 1, 0, count));
      EXPECT_EQ(mine, sums_of(size, me * count, count));
      placed.resize(count);
      EXPECT_EQ(placed, mine);
    });
  }
}

// Persistent, and as often as the arrays of counts change that the call was given.
TEST_P(Nonblocking, KeepWhatTheProgramMayChange) {
  const Shape shape = GetParam();
  Job(shape.ranks, shape.homes()).run([&](core::Comm& comm) {
    const int size = shape.ranks;
    const auto* const type = datatype::predefined(MPI_INT);
    std::vector<int> counts(size), places(size), out, in, expected;
    for (int rank = 0, end = 0; rank < size; ++rank) {
      counts[rank] = 50 * ((comm.rank + rank) % 5);  // as much from each as to it
      places[rank] = std::exchange(end, end + counts[rank]);
      for (int i = 0; i < counts[rank]; ++i) {
        out.push_back(comm.rank * 100 + rank);
        expected.push_back(rank * 100 + comm.rank);
      }
    }
    in.resize(out.size());
    const Operation operation =
        TeamRequest::make(comm,
                          Call::alltoallv(Blocks(out.data(), counts.data(), places.data(), type),
                                          Blocks(in.data(), counts.data(), places.data(), type)),
                          Kind::kPersistent);
    ASSERT_NE(operation, nullptr);
    std::fill(counts.begin(), counts.end(), -1);
    std::fill(places.begin(), places.end(), 1 << 30);
    for (int run = 0; run < 3; ++run) {
      std::fill(in.begin(), in.end(), -1);
      ASSERT_TRUE(operation->start().ok());
      EXPECT_TRUE(end(*operation).ok());
      EXPECT_EQ(in, expected);
      operation->state = core::Request::State::kInactive;
    }
  });
}

// More than a table has room for at first, begun in turns, so that different ranks are ahead.
TEST_P(Nonblocking, ManyAtOnce) {
  const Shape shape = GetParam();
  constexpr int kMany = 50;
  Job(shape.ranks, shape.homes()).run([&](core::Comm& comm) {
    std::vector<std::vector<int>> data(kMany);
    for (int round = 0; round < 3; ++round) {
      std::vector<Operation> operations;
      for (int i = 0; i < kMany; ++i) {
        const int root = i % shape.ranks;
        data[i].assign(3000, comm.rank == root ? i * 10 + round : -1);
        operations.push_back(begun(comm, Call::broadcast(ints(data[i]), root)));
      }
      for (int i = kMany - 1; i >= 0; --i) {
        EXPECT_TRUE(end(*operations[i]).ok());
        EXPECT_EQ(data[i], std::vector<int>(3000, i * 10 + round));
      }
    }
  });
}

// All work is done by a thread that rounds to nearest, for ranks that round upward and ask for exceptions.
TEST_P(Nonblocking, ComputeAsTheirRanks) {
  const Shape shape = GetParam();
  const core::Op sum(MPI_SUM);
  Job job(shape.ranks, shape.homes());
  job.keep_tasks(shape.workers);
  std::atomic<bool> over = false;
  std::thread worker([&] {
    while (!over.load())
      for (int home = 0; home < shape.workers; ++home) job.run_left(home);
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
    EXPECT_EQ(std::fetestexcept(FE_OVERFLOW), 0);
  });
  job.run([&](core::Comm& comm) {
    std::fesetround(FE_UPWARD);
    std::feclearexcept(FE_ALL_EXCEPT);
    const int count = 9000;
    std::vector<double> in(count, comm.rank == 0 ? 1.0 : 1e-30), out(count);
    const Layout from{in.data(), count, datatype::predefined(MPI_DOUBLE)}, to{out.data(), count, from.type};
    const Reduction reduction{&sum, MPI_DOUBLE};
    for (const bool overflows : {false, true}) {
      if (overflows) std::ranges::fill(in, std::numeric_limits<double>::max());
      const Operation operation = begun(comm, Call::allreduce(reduction, from, to));
      while (!operation->completion.done()) std::this_thread::yield();
      ASSERT_TRUE(operation->is_to_be_asked());
      operation->ask(false);
      EXPECT_EQ(std::ranges::count_if(out, [](double value) { return value > 1; }), count);
      // Each rank is told what was met in its own part.
      EXPECT_EQ(std::fetestexcept(FE_OVERFLOW) != 0, overflows);
    }
  });
  over = true;
  worker.join();
}

// Ranks do what was left for their homes, until they are done; some are late, and others go on with their
// parts.
TEST_P(Nonblocking, ShareTheWork) {
  const Shape shape = GetParam();
  const std::vector<int> homes = shape.homes();
  const core::Op sum(MPI_SUM);
  Job job(shape.ranks, homes);
  job.keep_tasks(shape.workers);
  job.run([&](core::Comm& comm) {
    const int size = shape.ranks, count = 9000;
    const auto finish = [&](TeamRequest& operation) {
      while (!operation.completion.done()) {
        job.run_left(homes[comm.rank]);
        std::this_thread::yield();
      }
      return base::Status::from_code(operation.result.error);
    };
    for (int round = 0; round < 20; ++round) {
      std::vector<int> in(count, comm.rank + round), sums(count), blocks(count * size), all(count * size);
      for (int i = 0; i < count * size; ++i) blocks[i] = comm.rank * 1000 + i / count;
      const Operation reduced = begun(comm, Call::allreduce({&sum, MPI_INT}, ints(in), ints(sums)));
      const Operation exchanged = begun(comm, Call::alltoall(comm.peers().size(), ints(blocks), ints(all)));
      const Operation met = begun(comm, Call::barrier());
      if ((comm.rank + round) % 3 == 0) std::this_thread::yield();
      EXPECT_TRUE(finish(*exchanged).ok());
      EXPECT_TRUE(finish(*met).ok());
      EXPECT_TRUE(finish(*reduced).ok());
      EXPECT_EQ(sums, std::vector<int>(count, size * (size - 1) / 2 + size * round));
      for (int i = 0; i < count * size; i += 777) EXPECT_EQ(all[i], i / count * 1000 + comm.rank);
    }
  });
  for (int home = 0; home < shape.workers; ++home) job.run_left(home);
}

TEST_P(Nonblocking, TellWhoDisagrees) {
  const Shape shape = GetParam();
  const core::Op sum(MPI_SUM);
  Job(shape.ranks, shape.homes()).run([&](core::Comm& comm) {
    const Reduction reduction{&sum, MPI_INT};
    const bool odd = comm.rank == 1;
    std::vector<int> in(3000, 1), out(3000);
    const Layout some{in.data(), odd ? 2999 : 3000, ints(in).type};
    const Operation roots = begun(comm, Call::broadcast(ints(in), odd ? 1 : 0));
    const Operation sizes =
        begun(comm, Call::allreduce(reduction, some, {out.data(), some.count, some.type}));
    const Operation calls =
        odd ? begun(comm, Call::barrier()) : begun(comm, Call::allreduce(reduction, ints(in), ints(out)));
    EXPECT_EQ(end(*roots).error_class(), MPI_ERR_ROOT);
    EXPECT_EQ(end(*sizes).error_class(), MPI_ERR_TRUNCATE);
    EXPECT_EQ(end(*calls).error_class(), MPI_ERR_OTHER);
    EXPECT_NE(std::string(base::message_of(calls->result.error)).find("rank 1 calls MPI_Barrier"),
              std::string::npos);
    const Operation good = begun(comm, Call::allreduce(reduction, ints(in), ints(out)));
    EXPECT_TRUE(end(*good).ok());
    EXPECT_EQ(out, std::vector<int>(3000, shape.ranks));
  });
}

TEST(PendingCollectives, AreForPredefinedOperationsOfTeams) {
  const core::Op own(compose, true), sum(MPI_SUM);
  Job(3, {0, 1, 2}).run([&](core::Comm& comm) {
    std::vector<int> in(4), out(4);
    const int tags = comm.collective_tags();
    EXPECT_EQ(
        TeamRequest::make(comm, Call::allreduce({&own, MPI_INT}, ints(in), ints(out)), Kind::kNonblocking),
        nullptr);
    EXPECT_EQ(comm.collective_tags(), tags);  // the messages' is the next one
    EXPECT_EQ(TeamRequest::make(*comm.owner.comm_self, Call::barrier(), Kind::kNonblocking), nullptr);
    EXPECT_TRUE(barrier(comm).ok());
  });
  Job(4, {0, 0, 1, 1}, {0, 0, 1, 1}).run([&](core::Comm& comm) {  // two hosts
    EXPECT_EQ(TeamRequest::make(comm, Call::barrier(), Kind::kNonblocking), nullptr);
  });
}

}  // namespace
}  // namespace clump::coll
