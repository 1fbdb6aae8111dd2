#include "instruments/event_dispatcher.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "p2p/matcher.h"

namespace clump::instruments {
namespace {

const EventKind& kind_of(std::string_view name) {
  const auto found = std::ranges::find(event_kinds(), name, &EventKind::name);
  EXPECT_NE(found, event_kinds().end()) << name;
  return *found;
}

/// What a registration was told.
struct Heard {
  std::vector<Count> bytes;  ///< of collectives
  std::vector<Count> times;
  std::vector<Count> drops;
  EventDispatcher* forgets = nullptr;  ///< the callback ends its registration there
  EventDispatcher* asks = nullptr;
  bool was_current = true;
};

void hear(MPI_T_event_instance event, MPI_T_event_registration handle, MPI_T_cb_safety, void* data) {
  auto& heard = *static_cast<Heard*>(data);
  const auto& instance = *reinterpret_cast<const Instance*>(event);
  heard.bytes.push_back(instance.note.elements[2]);
  heard.times.push_back(instance.note.time);
  if (heard.asks != nullptr) heard.was_current = heard.was_current && heard.asks->is_current(&instance);
  if (heard.forgets != nullptr) heard.forgets->forget(handle);
}

void hear_drops(MPI_Count count, MPI_T_event_registration, int, MPI_T_cb_safety, void* data) {
  static_cast<Heard*>(data)->drops.push_back(count);
}

class Events : public testing::Test {
 protected:
  Events() {
    rank_.inbox = std::make_unique<p2p::Matcher>();
    dispatcher_ = std::make_unique<EventDispatcher>(rank_);
  }
  ~Events() override { rank_.inbox.reset(); }

  Interest interest(Heard& heard, std::string_view kind = "collective") {
    Interest made;
    made.handle = reinterpret_cast<MPI_T_event_registration>(&heard);
    made.kind = &kind_of(kind);
    made.callbacks[0] = {hear, &heard};
    made.dropped = hear_drops;
    return made;
  }
  void happen(Count bytes, std::uint32_t context = 8) {
    dispatcher_->collective_begins(context, 1, 2, bytes);
  }

  core::World world_;
  core::Rank rank_{world_, world_.launch, 0};
  std::unique_ptr<EventDispatcher> dispatcher_;
};

TEST_F(Events, AreToldInTheirOrderAndOnce) {
  Heard heard;
  heard.asks = dispatcher_.get();
  dispatcher_->want(interest(heard));
  EXPECT_EQ(rank_.observer.load(), dispatcher_.get());
  happen(1);
  happen(2);
  EXPECT_TRUE(heard.bytes.empty()) << "they are told when the rank calls MPI";
  EXPECT_NE(rank_.pending_events & core::Rank::kEventsWait, 0);
  dispatcher_->tell();
  EXPECT_EQ(heard.bytes, (std::vector<Count>{1, 2}));
  EXPECT_LE(heard.times[0], heard.times[1]);
  EXPECT_EQ(rank_.pending_events & core::Rank::kEventsWait, 0);
  dispatcher_->tell();
  EXPECT_EQ(heard.bytes.size(), 2u);
  EXPECT_TRUE(heard.was_current);
  EXPECT_FALSE(dispatcher_->is_current(nullptr));
}

TEST_F(Events, AreToldToThoseWhoAskedBeforeTheyHappened) {
  Heard early, late;
  dispatcher_->want(interest(early));
  happen(1);
  dispatcher_->want(interest(late));
  happen(2);
  dispatcher_->want(interest(early));  // again, with a callback more: it keeps what it has asked for
  dispatcher_->tell();
  EXPECT_EQ(early.bytes, (std::vector<Count>{1, 2}));
  EXPECT_EQ(late.bytes, (std::vector<Count>{2}));
}

TEST_F(Events, AreOfTheKindAndTheCommunicatorThatIsWanted) {
  Heard all, of_comm, messages;
  Interest bound = interest(of_comm, kind_of("comm_collective").name);
  bound.context = 8;
  dispatcher_->want(interest(all));
  dispatcher_->want(bound);
  dispatcher_->want(interest(messages, "unexpected_message"));
  happen(1, 8);
  happen(2, 16);
  dispatcher_->unexpected_came({.context = 8, .source = 1, .tag = 2, .bytes = 3});
  dispatcher_->unexpected_came({.context = 9, .source = 1, .tag = 2, .bytes = 4});  // part of a collective
  dispatcher_->tell();
  EXPECT_EQ(all.bytes, (std::vector<Count>{1, 2}));
  EXPECT_EQ(of_comm.bytes, (std::vector<Count>{1}));
  EXPECT_EQ(messages.bytes, (std::vector<Count>{3}));
}

TEST_F(Events, OfNoInterestAreNotKept) {
  happen(1);
  EXPECT_EQ(rank_.pending_events & core::Rank::kEventsWait, 0);
  Heard heard;
  dispatcher_->want(interest(heard));
  dispatcher_->tell();
  EXPECT_TRUE(heard.bytes.empty());
  dispatcher_->forget(reinterpret_cast<MPI_T_event_registration>(&heard));
  EXPECT_EQ(rank_.observer.load(), nullptr) << "nothing is watched any more";
  happen(2);
  dispatcher_->tell();
  EXPECT_TRUE(heard.bytes.empty());
}

TEST_F(Events, ACallbackMayEndItsRegistration) {
  Heard heard;
  heard.forgets = dispatcher_.get();
  dispatcher_->want(interest(heard));
  happen(1);
  happen(2);
  dispatcher_->tell();
  EXPECT_EQ(heard.bytes, (std::vector<Count>{1}));
}

TEST_F(Events, BeyondTheRoomAreCountedAsDropped) {
  constexpr int kRoom = 1024;
  Heard heard, later;
  dispatcher_->want(interest(heard));
  for (int i = 0; i < kRoom + 3; ++i) happen(i);
  dispatcher_->tell();
  ASSERT_EQ(heard.bytes.size(), std::size_t{kRoom});
  EXPECT_EQ(heard.bytes.back(), kRoom - 1);
  EXPECT_EQ(heard.drops, std::vector<Count>{3});
  happen(7000);
  dispatcher_->tell();
  EXPECT_EQ(heard.bytes.back(), 7000) << "there is room again";
  EXPECT_EQ(heard.drops.size(), 1u) << "told once";
}

TEST_F(Events, TheCallbackThatAsksForLeastIsCalled) {
  Heard least, most;
  Interest both = interest(most);
  both.callbacks = {};
  EXPECT_FALSE(both.any());
  both.callbacks[3] = {hear, &most};
  EXPECT_TRUE(both.any());
  EXPECT_EQ(both.best().user_data, &most);
  both.callbacks[1] = {hear, &least};
  EXPECT_EQ(both.best().user_data, &least);
}

TEST_F(Events, AMarkIsTheMostMessagesSoFar) {
  EventDispatcher::Mark mark, other;
  dispatcher_->unexpected_are(2);
  dispatcher_->add_mark(mark);
  EXPECT_EQ(dispatcher_->most(mark), 0) << "the matcher has said that there are none";
  dispatcher_->unexpected_came({.context = 8});
  dispatcher_->unexpected_came({.context = 9});
  dispatcher_->unexpected_went();
  dispatcher_->unexpected_came({.context = 8});
  EXPECT_EQ(dispatcher_->most(mark), 2);
  dispatcher_->add_mark(other);
  EXPECT_EQ(dispatcher_->most(other), 2) << "as many as there are now";
  dispatcher_->set_most(mark, 0);
  dispatcher_->unexpected_went();
  dispatcher_->unexpected_came({.context = 8});
  EXPECT_EQ(dispatcher_->most(mark), 2);
  dispatcher_->remove_mark(mark);
  dispatcher_->unexpected_came({.context = 8});
  EXPECT_EQ(dispatcher_->most(mark), 2) << "it is watched no more";
  EXPECT_EQ(dispatcher_->most(other), 3);
  dispatcher_->remove_mark(other);
}

}  // namespace
}  // namespace clump::instruments
