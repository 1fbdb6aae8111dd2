// The counts of docs/performance/many-cores.md are of a simulation (bench/transfers), which is told in a file
// what a team looks like: who exchanges with whom, what lies in one cache line, which algorithm is selected.
// This looks at teams as the library makes them, and fails where the file says something else.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/types.h"
#include "coll/shared/team_state.h"
#include "coll/test_ranks.h"

namespace clump::coll {

/// A friend of Team.
struct TeamShape {
  static constexpr std::size_t kLine = 64;

  static std::string layout() {
    // What a leader writes for another one of 8 bytes, and what the root of a broadcast of 8 bytes writes.
    const std::size_t mail = offsetof(Team::LeaderMailbox, data) + 8;
    const std::size_t notice = offsetof(Team::RingSlot, data) + 8;
    static_assert(alignof(Team::LeaderMailbox) % kLine == 0 && alignof(Team::RingSlot) % kLine == 0);
    const bool apart =
        offsetof(Team::ArgumentSlot, released) / kLine != offsetof(Team::ArgumentSlot, read) / kLine;
    return fmt::format("mail-lines {}\nring-lines {}\nring-slots {}\nring-batch {}\nread-is-apart {:d}\n",
                       lines(mail), lines(notice), Team::kRingSlots, Team::kBatch, apart);
  }

  /// For each leader the mailboxes that it has received, in the order in which it did: which groups' operands
  /// were new to it. After one allreduce in which group i gives bit i.
  static std::string received(const Team& team) {
    const int groups = team.group_count_, folds = team.active_ < groups ? 2 : 0;
    const int doubling = team.rounds_ - folds;
    std::string text;
    for (int group = 0; group < groups; ++group) {
      std::vector<std::uint64_t> found;
      const auto look = [&](int round) {
        const Team::LeaderMailbox& mailbox = team.mailbox(group, round, 0);
        if (mailbox.header.call != PackedSignature()) std::memcpy(&found.emplace_back(), mailbox.data, kWord);
      };
      if (folds != 0) look(doubling);
      for (int round = 0; round < doubling; ++round) look(round);
      if (folds != 0) look(doubling + 1);
      text += fmt::format("received {} {}{}\n", groups, group, as_sent(std::uint64_t{1} << group, found));
    }
    return text;
  }

 private:
  static constexpr std::size_t kWord = sizeof(std::uint64_t);

  /// Leaders combine in their mailboxes (LeaderMailbox::receive). What a lower group has sent is as it came.
  /// What a higher one has sent was combined with what the leader had, and then with what lower ones sent.
  static std::string as_sent(std::uint64_t own, const std::vector<std::uint64_t>& found) {
    std::string text;
    std::uint64_t known = own;
    for (auto mailbox = found.begin(); mailbox != found.end(); ++mailbox) {
      std::uint64_t sent = *mailbox & ~known;
      for (auto later = mailbox + 1; later != found.end(); ++later)
        if ((*later & own) == 0) sent &= ~*later;
      text += fmt::format(" {:x}", sent);
      known |= sent;
    }
    return text;
  }

  static std::size_t lines(std::size_t bytes) { return (bytes + kLine - 1) / kLine; }
};

namespace {

constexpr int kWorkers[] = {2, 3, 4, 6, 8, 16, 32, 48, 64};

std::string selected(const char* name, Collective collective, Count bytes) {
  const Situation situation{.ranks = 64, .bytes = bytes, .team = true,
                            .carried = Team::can_carry(collective, 64, bytes)};
  return fmt::format("algorithm {} {} {}\n", name, bytes, name_of(select_shipped(collective, situation)));
}

/// Of a team with a rank at each of so many workers.
std::string exchanges(int workers) {
  std::vector<int> homes(static_cast<std::size_t>(workers));
  std::iota(homes.begin(), homes.end(), 0);
  const core::Op either(MPI_BOR);
  const Team* team = nullptr;
  Job job(workers, homes);
  job.run([&](core::Comm& comm) {
    std::uint64_t mine = std::uint64_t{1} << comm.rank, all = 0;
    const datatype::Datatype* const type = datatype::predefined(MPI_UINT64_T);
    EXPECT_TRUE(allreduce(comm, {&either, MPI_UINT64_T}, {&mine, 1, type}, {&all, 1, type}).ok());
    EXPECT_EQ(all, ~std::uint64_t{0} >> (64 - workers));
    if (comm.rank == 0) team = Team::of(comm);
  });
  return TeamShape::received(*team);
}

TEST(TeamShape, IsWhatTheSimulationIsTold) {
  std::string found = TeamShape::layout();
  found += selected("barrier", Collective::kBarrier, 0) + selected("bcast", Collective::kBroadcast, 8) +
           selected("allreduce", Collective::kAllreduce, 8) +
           selected("allreduce", Collective::kAllreduce, 65536);
  for (const int workers : kWorkers) found += exchanges(workers);
  if (const char* const file = base::variable("CLUMP_WRITE_SHAPE")) std::ofstream(file) << found;
  std::ifstream file(CLUMP_SHAPE);
  std::ostringstream known;
  known << file.rdbuf();
  EXPECT_EQ(found, known.str()) << "if that is meant, run this with CLUMP_WRITE_SHAPE=" CLUMP_SHAPE
                                   ", then './dev bench --transfers'";
}

}  // namespace
}  // namespace clump::coll
