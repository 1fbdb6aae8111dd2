#include "mpi/dynamic/port_table.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/test_failure.h"

namespace clump::mpi {
namespace {

using Visitors = std::vector<Visitor>;

PortQuestion question_at(const PortName& port, std::uint32_t number) {
  return {port.port, number, port.token};
}

/// Takes the next client, which has to be there; whether it is the expected one.
bool takes(PortTable& table, const PortName& port, Visitor expected) {
  Visitor found;
  return table.next(port, found).ok() && found == expected;
}

TEST(PortTable, OpensPortsThatDiffer) {
  PortTable table;
  std::set<std::pair<int, std::uint64_t>> all;
  for (int i = 0; i < 100; ++i) {
    const PortName port = table.open({.job = "h", .rank = 4});
    EXPECT_EQ(port.job, "h");
    EXPECT_EQ(port.rank, 4);
    EXPECT_GT(port.port, 0);
    EXPECT_NE(port.token, 0u);
    all.emplace(port.port, port.token);
  }
  EXPECT_EQ(all.size(), 100u);
}

TEST(PortTable, GivesClientsInTheOrderInWhichTheyCome) {
  PortTable table;
  const PortName one = table.open({}), other = table.open({});
  EXPECT_EQ(table.ask(7, question_at(one, 1)), std::nullopt);
  EXPECT_EQ(table.ask(5, question_at(other, 1)), std::nullopt);
  EXPECT_EQ(table.ask(3, question_at(one, 9)), std::nullopt);
  EXPECT_TRUE(takes(table, one, {7, 1}));
  EXPECT_TRUE(takes(table, one, {3, 9}));
  EXPECT_TRUE(takes(table, other, {5, 1}));
}

TEST(PortTable, RefusesWhoAsksForNoOpenPort) {
  PortTable table;
  EXPECT_EQ(table.ask(1, {.port = 1, .number = 1, .token = 0}), PortAnswer::kNotOpen);
  const PortName port = table.open({});
  EXPECT_EQ(table.ask(1, {port.port + 1, 1, port.token}), PortAnswer::kNotOpen);
  EXPECT_EQ(table.ask(1, {port.port, 1, port.token + 1}), PortAnswer::kWrongToken);
  EXPECT_EQ(table.close(port), Visitors()) << "those that were refused do not wait";
  EXPECT_EQ(table.ask(1, question_at(port, 1)), PortAnswer::kNotOpen);
}

TEST(PortTable, ClosesAPortOnceAndTellsWhoWaits) {
  PortTable table;
  const PortName port = table.open({}), other = table.open({});
  ASSERT_EQ(table.ask(2, question_at(port, 4)), std::nullopt);
  ASSERT_EQ(table.ask(6, question_at(port, 5)), std::nullopt);
  ASSERT_EQ(table.ask(6, question_at(other, 6)), std::nullopt);
  PortName wrong = port;
  ++wrong.token;
  EXPECT_EQ(table.close(wrong), std::nullopt);
  EXPECT_EQ(table.close(port), (Visitors{{2, 4}, {6, 5}}));
  EXPECT_EQ(table.close(port), std::nullopt);
  EXPECT_EQ(table.close(other), (Visitors{{6, 6}}));
}

TEST(PortTable, NamesThePortThatIsNotOpen) {
  PortTable table;
  const PortName port = table.open({.job = "h"});
  ASSERT_TRUE(table.close(port).has_value());
  Visitor none;
  EXPECT_EQ(
      base::failure(table.next(port, none)),
      (base::Failure{MPI_ERR_PORT, "(port_name = \"" + port.text() + "\"): the root has no such open port"}));
}

TEST(PortTable, ForgetsWhomAProcessTakesAway) {
  PortTable table;
  const PortName port = table.open({}), other = table.open({});
  ASSERT_EQ(table.ask(2, question_at(port, 1)), std::nullopt);
  ASSERT_EQ(table.ask(2, question_at(port, 2)), std::nullopt);
  ASSERT_EQ(table.ask(8, question_at(port, 3)), std::nullopt);
  ASSERT_EQ(table.ask(2, question_at(other, 4)), std::nullopt);
  ASSERT_TRUE(takes(table, port, {2, 1}));
  EXPECT_EQ(table.forget(2), (Visitors{{2, 1}})) << "it has been taken, and the thread waits for its word";
  EXPECT_TRUE(takes(table, port, {8, 3})) << "what waited of rank 2 is gone";
  EXPECT_EQ(table.close(other), Visitors());
  EXPECT_EQ(table.forget(8), (Visitors{{8, 3}}));
  table.confirmed({2, 1});
  EXPECT_EQ(table.forget(2), Visitors());
  table.confirmed({2, 1});  // again: does nothing
  EXPECT_EQ(table.forget(8), (Visitors{{8, 3}}));
}

/// Returns once the kernel thread sleeps.
void wait_until_asleep(const std::atomic<int>& thread) {
  for (std::string state; state != "S"; std::this_thread::yield()) {
    std::ifstream in("/proc/self/task/" + std::to_string(thread.load()) + "/stat");
    std::string number, name;
    in >> number >> name >> state;
  }
}

TEST(PortTable, GivesAClientToAThreadThatWaits) {
  PortTable table;
  const PortName port = table.open({});
  Visitor first, second;
  base::Failure outcome;
  std::atomic<int> thread{0};
  std::thread acceptor([&] {
    thread = ::gettid();
    outcome = base::failure(table.next(port, first));
    static_cast<void>(table.next(port, second));
  });
  wait_until_asleep(thread);
  EXPECT_EQ(table.ask(5, question_at(port, 7)), std::nullopt);
  EXPECT_EQ(table.ask(6, question_at(port, 8)), std::nullopt);
  acceptor.join();
  EXPECT_EQ(outcome, base::kNoFailure);
  EXPECT_EQ(first, (Visitor{5, 7}));
  EXPECT_EQ(second, (Visitor{6, 8}));
  EXPECT_EQ(table.forget(6), (Visitors{{6, 8}})) << "taken, and not confirmed";
  EXPECT_EQ(table.close(port), Visitors());
}

/// What a thread in next() gets if the port is closed after so long.
base::Failure outcome_if_closed(std::chrono::milliseconds after, PortName& port) {
  PortTable table;
  port = table.open({.job = "h"});
  base::Failure outcome;
  std::thread acceptor([&] {
    Visitor none;
    outcome = base::failure(table.next(port, none));
  });
  std::this_thread::sleep_for(after);
  EXPECT_EQ(table.close(port), Visitors());
  acceptor.join();
  return outcome;
}

TEST(PortTable, TellsAWaitingThreadThatAnotherOneHasClosedThePort) {
  PortName port;
  base::Failure outcome;
  // A thread that comes later than close() is told that there is no such port: then once more, with more
  // time.
  for (int tries = 0; tries < 12; ++tries) {
    outcome = outcome_if_closed(std::chrono::milliseconds(1 << tries), port);
    if (outcome.text.find("no such open port") == std::string::npos) break;
  }
  EXPECT_EQ(outcome, (base::Failure{MPI_ERR_PORT, "(port_name = \"" + port.text() +
                                                      "\"): another thread has closed the port"}));
}

TEST(PortTable, SaysWhyAConnectionIsRefused) {
  const auto words = [](PortAnswer answer) { return base::failure(connection_refused(answer, "clump:x")); };
  const std::string start = "(port_name = \"clump:x\"): refused: ";
  EXPECT_EQ(words(PortAnswer::kNotOpen),
            (base::Failure{MPI_ERR_PORT, start + "the port is not open, or not any more"}));
  EXPECT_EQ(words(PortAnswer::kWrongToken),
            (base::Failure{MPI_ERR_PORT, start + "the token in the name is not the port's"}));
  EXPECT_EQ(words(PortAnswer::kClosed),
            (base::Failure{MPI_ERR_PORT, start + "the port was closed before the connection was accepted"}));
  EXPECT_EQ(words(PortAnswer::kEnded), (base::Failure{MPI_ERR_PORT, start + "its process has ended"}));
}

}  // namespace
}  // namespace clump::mpi
