#include "rma/epoch_signals.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

namespace clump::rma {
namespace {

using Call = EpochSignals::Call;

TEST(EpochSignals, ArriveAtTheirReceiverAndNowhereElse) {
  constexpr int kRanks = 7;
  EpochSignals signals(kRanks);
  signals.send(Call::kPost, 2, 5);
  signals.send(Call::kComplete, 6, 6);
  for (int from = 0; from < kRanks; ++from)
    for (int to = 0; to < kRanks; ++to) {
      EXPECT_EQ(signals.received(Call::kPost, from, to).done(), from == 2 && to == 5);
      EXPECT_EQ(signals.received(Call::kComplete, from, to).done(), from == 6 && to == 6);
    }
}

TEST(EpochSignals, OneThatWasNotUsedStays) {
  EpochSignals signals(2);
  signals.send(Call::kPost, 0, 1);
  signals.send(Call::kPost, 0, 1);
  EXPECT_TRUE(signals.received(Call::kPost, 0, 1).done());
  signals.received(Call::kPost, 0, 1).reset();
  EXPECT_FALSE(signals.received(Call::kPost, 0, 1).done());
}

/// Each thread exposes its number to all others, and writes into theirs: the data is ordered by the signals.
TEST(EpochSignals, OrderDataOfManyEpochs) {
  constexpr int kRanks = 4, kEpochs = 2000;
  EpochSignals signals(kRanks);
  std::vector<std::vector<int>> memory(kRanks, std::vector<int>(kRanks, -1));
  const auto await = [&](Call call, int from, int to) {
    signals.received(call, from, to).wait();
    signals.received(call, from, to).reset();
  };
  const auto run = [&](int rank) {
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (int other = 0; other < kRanks; ++other) signals.send(Call::kPost, rank, other);
      for (int other = 0; other < kRanks; ++other) await(Call::kPost, other, rank);
      for (int other = 0; other < kRanks; ++other)
        memory[static_cast<std::size_t>(other)][static_cast<std::size_t>(rank)] = epoch * kRanks + rank;
      for (int other = 0; other < kRanks; ++other) signals.send(Call::kComplete, rank, other);
      for (int other = 0; other < kRanks; ++other) await(Call::kComplete, other, rank);
      for (int other = 0; other < kRanks; ++other)
        ASSERT_EQ(memory[static_cast<std::size_t>(rank)][static_cast<std::size_t>(other)],
                  epoch * kRanks + other);
    }
  };
  std::vector<std::thread> threads;
  for (int rank = 0; rank < kRanks; ++rank) threads.emplace_back(run, rank);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace clump::rma
