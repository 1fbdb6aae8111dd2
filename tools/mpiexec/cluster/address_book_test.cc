#include "cluster/address_book.h"

#include <gtest/gtest.h>

namespace clump::mpiexec {
namespace {

using Hosts = std::vector<std::size_t>;

/// Three hosts with a process each.
pmi::Job job() {
  pmi::Job job;
  job.apps.push_back({.ranks = 3});
  for (int i = 0; i < 3; ++i) {
    job.processes.push_back({i, 1, true});
    job.nodes.push_back({"h" + std::to_string(i), i, 1});
  }
  return job;
}

ControlReply reply(ControlReply::Kind kind, std::uint32_t process, std::string bytes = {}) {
  return {.kind = kind, .number = process, .bytes = std::move(bytes)};
}

TEST(AddressBook, TellsThoseWhoHaveAskedAndThoseWhoAskLater) {
  const pmi::Job three = job();
  AddressBook book(three);
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kWanted, 1)));
  EXPECT_FALSE(book.take(2, reply(ControlReply::Kind::kWanted, 1)));
  const auto told = book.take(1, reply(ControlReply::Kind::kAddress, 1, "there"));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->hosts, (Hosts{0, 2}));
  EXPECT_EQ(told->message.number, 1U);
  EXPECT_EQ(told->message.bytes, "there");
  const auto later = book.take(0, reply(ControlReply::Kind::kWanted, 1));
  ASSERT_TRUE(later);
  EXPECT_EQ(later->hosts, Hosts{0});
  EXPECT_EQ(later->message.bytes, "there");
}

TEST(AddressBook, TakesNoWordOfAHostForAnother) {
  const pmi::Job three = job();
  AddressBook book(three);
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kAddress, 1, "here")));
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kAbsent, 1)));
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kAddress, 3, "nowhere")));
  EXPECT_FALSE(book.take(2, reply(ControlReply::Kind::kWanted, 1)));
}

TEST(AddressBook, TellsTheOthersWhoIsAbsentAndAllWhenAllAreDone) {
  const pmi::Job three = job();
  AddressBook book(three);
  const auto absent = book.take(1, reply(ControlReply::Kind::kAbsent, 1));
  ASSERT_TRUE(absent);
  EXPECT_EQ(absent->hosts, (Hosts{0, 2}));
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kDone, 0)));
  EXPECT_FALSE(book.take(0, reply(ControlReply::Kind::kDone, 0)));
  EXPECT_FALSE(book.take(2, reply(ControlReply::Kind::kDone, 0)));
  const auto done = book.take(1, reply(ControlReply::Kind::kDone, 0));
  ASSERT_TRUE(done);
  EXPECT_EQ(done->message.kind, ControlMessage::Kind::kAllDone);
  EXPECT_EQ(done->hosts, (Hosts{0, 1, 2}));
}

}  // namespace
}  // namespace clump::mpiexec
