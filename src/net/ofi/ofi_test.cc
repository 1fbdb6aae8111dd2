// Messages of all kinds between the ranks of several processes.
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <ctime>
#include <filesystem>
#include <random>
#include <string>
#include <thread>

#include "datatype/derive.h"
#include "net/ofi/test_channels.h"
#include "seed.h"

namespace clump::net {
namespace {

TEST_F(Ofi, CarriesShortMessagesAtOnce) {
  char text[] = "short";
  ASSERT_TRUE(drain_until([&] {  // the first one may have to wait for a connection
    return channel(0).try_send({0, 1}, {4, 0, 9}, sizeof text, bytes_at(text, sizeof text));
  }));
  ASSERT_TRUE(drain_until([&] { return sink(1).came == 1; }));
  EXPECT_EQ(sink(1).entry(0).envelope.tag(), 9);
  EXPECT_EQ(std::memcmp(sink(1).entry(0).data.data(), text, sizeof text), 0);
  EXPECT_GE(channel(0).traffic(0)[Way::kLane].messages.value(), 1U);
}

TEST_F(Ofi, CarriesAnySize) {
  int count = 0;
  for (const bool synchronous : {false, true})
    for (const std::size_t size : {0, 1, 24, 25, 217, 4096, 4097, 16'343, 16'344, 16'345, 16'384, 65'536,
                                   65'537, 300'000, 1 << 20, (1 << 20) + 1, 9'000'001}) {
      Bytes data = pattern(size, size);
      Message sent(data, count, synchronous);
      channel(0).send({0, 1}, sent);
      ASSERT_TRUE(drain_until([&] { return sink(1).came == count + 1 && sent.times_released == 1; })) << size;
      EXPECT_EQ(sink(1).last().data, data) << size;
      ++count;
    }
}

TEST_F(Ofi, OffersOnlyWhatIsLong) {
  const Count limit = channel(0).least_eager();
  EXPECT_GE(limit, 16'000);
  Bytes data = pattern(static_cast<std::size_t>(limit) + 1);
  for (const Count more : {0, 1}) {
    Message sent(data, 1);
    sent.bytes = limit + more;
    sent.payload = bytes_at(data.data(), static_cast<std::size_t>(sent.bytes));
    channel(0).send({0, 1}, sent);
    ASSERT_TRUE(drain_until([&] { return sink(1).came == more + 1 && sent.times_released == 1; }));
    EXPECT_EQ(channel(0).traffic(0)[Way::kLane].messages.value(), 1U);
    EXPECT_EQ(channel(0).traffic(0)[Way::kReference].messages.value(), static_cast<unsigned>(more));
  }
}

// As mpiexec finds out that nothing is on its way any more: twice the same, and as much was taken as sent.
// Only the network threads look.
TEST_F(Ofi, RestsOnlyWhenAllHasCome) {
  const auto all_rest = [&](Passed& passed) { return channel(0).rests(passed) && channel(1).rests(passed); };
  const auto nothing_is_on_its_way = [&] {
    Passed first, second;
    return all_rest(first) && all_rest(second) && first.sent == first.taken && first.sent == second.sent &&
           first.taken == second.taken;
  };
  int count = 0;
  for (const std::size_t size : {0, 100, 5000, 50'000, 100'000, 3 << 20})
    for (const int together : {1, 7, 100}) {
      if (size * static_cast<std::size_t>(together) > (8 << 20)) continue;
      Bytes data = pattern(size);
      std::deque<Message> sent;
      for (int i = 0; i < together; ++i) {
        channel(0).send({0, 1}, sent.emplace_back(data, i));
        channel(1).send({1, 0}, sent.emplace_back(data, i));
      }
      count += together;
      const auto end = std::chrono::steady_clock::now() + 60s;
      while (!nothing_is_on_its_way() && std::chrono::steady_clock::now() < end) {
      }
      EXPECT_EQ(sink(0).came, count) << size;
      EXPECT_EQ(sink(1).came, count) << size;
      for (const Message& message : sent) EXPECT_EQ(message.times_released, 1) << size;
    }
}

TEST_F(Ofi, KeepsTheOrderOfAPair) {
  std::mt19937 random(static_cast<unsigned>(test_seed(5)));
  std::deque<Bytes> data[2];
  std::deque<Message> sent[2];
  constexpr int kMessages = 600;
  for (int tag = 0; tag < kMessages; ++tag)
    for (int from : {0, 1}) {
      const std::size_t kinds[] = {random() % 64, random() % 16'000, random() % 100'000,
                                   random() % 50 == 0 ? 3'000'000U : 5U};
      data[from].push_back(pattern(kinds[random() % 4], random()));
      sent[from].emplace_back(data[from].back(), tag, random() % 4 == 0);
      channel(from).send({from, 1 - from}, sent[from].back());
      if (random() % 8 == 0) drain_for(0ms);
    }
  for (int to : {0, 1}) {
    ASSERT_TRUE(drain_until([&] { return sink(to).came == kMessages; })) << sink(to).came;
    for (int tag = 0; tag < kMessages; ++tag) {
      ASSERT_EQ(sink(to).entry(static_cast<std::size_t>(tag)).envelope.tag(), tag);
      ASSERT_EQ(sink(to).entry(static_cast<std::size_t>(tag)).data,
                data[1 - to][static_cast<std::size_t>(tag)]);
    }
  }
  EXPECT_TRUE(drain_until([&] {
    return std::ranges::all_of(sent[0], [](const Message& one) { return one.times_released == 1; }) &&
           std::ranges::all_of(sent[1], [](const Message& one) { return one.times_released == 1; });
  }));
}

TEST_F(Ofi, CarriesLayouts) {
  datatype::Made made;  // two ints of every three
  ASSERT_TRUE(datatype::make_vector({100, 2, 3}, *datatype::predefined(MPI_INT), made).ok());
  const datatype::Datatype& type = *made.type;
  ASSERT_FALSE(type.is_dense());
  int count = 0;
  for (const bool at_sender : {true, false})
    for (const bool at_receiver : {true, false})
      for (const Count elements : {1, 3, 10, 1000, 40'000}) {
        const auto packed_bytes = static_cast<std::size_t>(elements * type.size());
        Bytes data = pattern(static_cast<std::size_t>(elements * type.extent()));
        Message sent(data, count);
        sent.bytes = static_cast<Count>(packed_bytes);
        if (at_sender) sent.payload = {data.data(), elements, &type};
        sink(1).type = at_receiver ? &type : nullptr;
        channel(0).send({0, 1}, sent);
        ASSERT_TRUE(drain_until([&] { return sink(1).came == count + 1 && sent.times_released == 1; }));
        Bytes expected(packed_bytes), got = sink(1).last().data;
        datatype::pack(expected, sent.payload, 0);
        if (sent.bytes > channel(0).least_eager() && at_receiver) {  // what a Basket takes is packed
          got.resize(packed_bytes);
          datatype::pack(got, sink(1).last().to, 0);
        }
        got.resize(packed_bytes);
        EXPECT_EQ(got, expected) << elements;
        ++count;
      }
}

TEST_F(Ofi, FetchesWhenThereIsAReceive) {
  Bytes data = pattern(2'500'000);
  Message sent(data, 1);
  sink(1).wanted = false;
  channel(0).send({0, 1}, sent);
  ASSERT_TRUE(drain_until([&] { return sink(1).size() > 0; }));
  drain_for(20ms);
  EXPECT_EQ(sent.times_released, 0) << "it lies where it was";
  sink(1).fetch_all();
  ASSERT_TRUE(drain_until([&] { return sink(1).came == 1 && sent.times_released == 1; }));
  EXPECT_EQ(sink(1).entry(0).data, data);
}

TEST_F(Ofi, FetchesNoMoreThanIsWanted) {
  Bytes data = pattern(2'500'000);
  for (const Count wanted : {0, 10, 1'500'000}) {
    Message sent(data, 1);
    const int before = sink(1).came;
    sink(1).most_wanted = wanted;
    channel(0).send({0, 1}, sent);
    ASSERT_TRUE(drain_until([&] { return sink(1).came == before + 1 && sent.times_released == 1; }))
        << wanted;
    const Bytes& got = sink(1).last().data;
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + wanted, data.begin()));
    EXPECT_EQ(std::count(got.begin() + wanted, got.end(), std::byte{0}),
              static_cast<Count>(data.size()) - wanted);
  }
}

TEST_F(Ofi, GivesBackWhatNobodyWants) {
  Bytes data = pattern(500'000);
  Message sent(data, 1);
  sink(1).wanted = false;
  channel(0).send({0, 1}, sent);
  ASSERT_TRUE(drain_until([&] { return sink(1).size() > 0; }));
  EXPECT_FALSE(channel(0).retract({0, 1}, sent)) << "the other side is asked";
  ASSERT_TRUE(drain_until([&] { return sent.times_withdrawn == 1; }));
  EXPECT_EQ(sent.times_released, 0);
}

TEST_F(Ofi, GoesOnWithWhatIsWantedAlready) {
  Bytes data = pattern(5'000'000);
  Message sent(data, 1);
  channel(0).send({0, 1}, sent);
  ASSERT_TRUE(drain_until([&] { return sink(1).size() > 0; }));
  channel(0).retract({0, 1}, sent);
  ASSERT_TRUE(drain_until([&] { return sink(1).came == 1 && sent.times_released == 1; }));
  EXPECT_EQ(sent.times_withdrawn, 0);
  EXPECT_EQ(sink(1).entry(0).data, data);
}

TEST_F(Ofi, LeavesWithTheSenderWhatHasNoRoom) {
  sink(1).set_crowded(true);
  Bytes data = pattern(8000);
  std::deque<Message> sent;
  constexpr int kMessages = 1000;
  sink(1).wanted = false;
  for (int tag = 0; tag < kMessages; ++tag) {
    sent.emplace_back(data, tag);
    channel(0).send({0, 1}, sent.back());
  }
  ASSERT_TRUE(drain_until([&] { return sink(1).size() == kMessages; }));
  EXPECT_LE(sink(1).taken_bytes, 1 << 20) << "the window";
  EXPECT_GE(sink(1).taken_bytes, 1 << 19);
  sink(1).set_crowded(false);
  sink(1).fetch_all();
  ASSERT_TRUE(drain_until([&] { return sink(1).came == kMessages; }));
  const Count before = sink(1).taken_bytes;
  Message once_more(data, kMessages);
  ASSERT_TRUE(drain_until([&] { return sent.back().times_released == 1; }));
  drain_for(5ms);
  channel(0).send({0, 1}, once_more);
  ASSERT_TRUE(drain_until([&] { return once_more.times_released == 1; }));
  drain_for(5ms);
  EXPECT_GT(sink(1).taken_bytes, before) << "short messages are copied again";
}

/// All threads of this process but the caller stand still while this lives.
class StandStill {
 public:
  StandStill() {
    stands_.store(true);
    struct sigaction action {};
    action.sa_flags = SA_RESTART;
    action.sa_handler = [](int) {
      constexpr timespec kMoment{0, 1'000'000};
      while (stands_.load()) ::nanosleep(&kMoment, nullptr);
    };
    ::sigaction(SIGUSR1, &action, nullptr);
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
      if (const int id = std::stoi(task.path().filename()); id != ::gettid())
        ::tgkill(::getpid(), id, SIGUSR1);
  }
  ~StandStill() { stands_.store(false); }
  StandStill(const StandStill&) = delete;
  StandStill& operator=(const StandStill&) = delete;

 private:
  static inline std::atomic<bool> stands_{false};
};

// The network may say that it puts nothing more into a multi-receive buffer while something of what it has
// put there still comes in from another process.
TEST_F(Ofi, WaitsForWhatComesInParts) {
  open({.processes = 3});
  std::deque<Bytes> data;
  std::deque<Message> sent;
  const auto send = [&](int process, int count) {
    for (int i = 0; i < count; ++i) {
      const auto number = sent.size();
      channel(process).send({process, 1}, sent.emplace_back(data.emplace_back(pattern(60'000, number)),
                                                            static_cast<int>(number)));
    }
  };
  const auto all_come = [&] {
    return drain_until([&] {
      return sink(1).came == static_cast<int>(sent.size()) &&
             std::ranges::all_of(sent, [](const Message& one) { return one.times_released == 1; });
    });
  };
  send(0, 1);
  ASSERT_TRUE(all_come());
  const int first = ::dup(STDIN_FILENO);  // what process 2 opens now, and what is opened for it, comes behind
  send(2, 1);
  ASSERT_TRUE(all_come());
  for (int socket = first; socket < first + 16; ++socket) {
    constexpr int kLeast = 1;  // the kernel takes the least that it can do with
    ::setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &kLeast, sizeof kLeast);
  }
  ::close(first);
  for (int round = 0; round < 10; ++round) {
    {
      const StandStill network_threads;
      send(2, 1);  // which goes with its beginning only: no thread looks
      for (int i = 0; i < 50; ++i) {
        send(0, 1);
        for (const int looks : {0, 1, 1, 1}) channel(looks).drain(0);
      }
    }
    ASSERT_TRUE(all_come());
  }
  for (std::size_t i = 0; i < sent.size(); ++i) {
    const Basket::Entry& entry = sink(1).entry(i);
    ASSERT_EQ(entry.data, data[static_cast<std::size_t>(entry.envelope.tag())]) << i;
  }
}

TEST_F(Ofi, DropsWhatStrangersSend) {
  open({.processes = 3, .stranger = 2});
  Bytes data = pattern(100), more = pattern(100'000);
  Message of_friend(data, 1), of_stranger(data, 2), offer(more, 3);
  channel(2).send({2, 1}, of_stranger);
  channel(2).send({2, 1}, offer);
  ASSERT_TRUE(drain_until([&] { return channel(1).refused() == 2; }));
  channel(0).send({0, 1}, of_friend);
  ASSERT_TRUE(drain_until(
      [&] { return sink(1).came == 1 && of_friend.times_released == 1 && of_stranger.times_released == 1; }));
  EXPECT_EQ(sink(1).size(), 1U);
  EXPECT_EQ(sink(1).entry(0).envelope.tag(), 1);
}

TEST_F(Ofi, WakesForWhatComesWhileNobodyLooks) {
  Bytes data = pattern(100), more = pattern(3'000'000);
  Message first(data, 1);
  channel(0).send({0, 1}, first);
  ASSERT_TRUE(drain_until([&] { return sink(1).came == 1; }));
  // Nothing looks any more; what follows is the network threads' work, to the last piece.
  for (const bool asleep : {true, false})
    for (const bool is_short : {true, false}) {
      const int before = sink(1).came;
      if (asleep) {
        while (!channel(0).may_sleep() || !channel(1).may_sleep()) drain_for(0ms);
        std::this_thread::sleep_for(10ms);
      } else {
        drain_for(20ms);  // as if it computed from now on
      }
      Message sent(is_short ? data : more, 2);
      channel(0).send({0, 1}, sent);
      for (int i = 0; i < 60'000 && sink(1).came == before; ++i) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(sink(1).came, before + 1) << asleep << is_short;
      for (int i = 0; i < 60'000 && sent.times_released == 0; ++i) std::this_thread::sleep_for(1ms);
      EXPECT_EQ(sent.times_released, 1);
    }
}

TEST_F(Ofi, SleepsWhereThereIsNothingToDo) {
  Bytes data = pattern(100'000);
  Message sent(data, 1);
  channel(0).send({0, 1}, sent);
  ASSERT_TRUE(drain_until([&] { return sink(1).came == 1 && sent.times_released == 1; }));
  while (!channel(0).may_sleep() || !channel(1).may_sleep()) drain_for(0ms);
  const auto used = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto time = [](const timeval& t) { return 1s * t.tv_sec + 1us * t.tv_usec; };
    return time(usage.ru_utime) + time(usage.ru_stime);
  };
  const auto naps = [&] { return channel(0).network_thread().naps() + channel(1).network_thread().naps(); };
  std::this_thread::sleep_for(100ms);
  const auto used_before = used();
  const std::uint64_t naps_before = naps();
  std::this_thread::sleep_for(1s);
  // A nap takes 20 ms, and 50 of a thread were usual. One that naps for the shortest time has a thousand.
  EXPECT_LT(naps() - naps_before, 2 * 500);
  // Of a second. 10 ms were usual; a thread that does not sleep at all uses all of it, or a good part where
  // others run.
  EXPECT_LT(used() - used_before, 300ms) << "by two processes' threads";
}

TEST_F(Ofi, TakesThreadsAtSeveralEndpoints) {
  constexpr int kRanks = 4, kMessages = 300;
  open({.processes = kRanks, .endpoints = 2});
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kRanks; ++i) {
    threads.emplace_back([&, i] {  // sends to all, and looks
      std::deque<Bytes> data;
      std::deque<Message> sent;
      for (int tag = 0; tag < kMessages; ++tag)
        for (int to = 0; to < kRanks; ++to) {
          if (to == i) continue;
          const std::size_t size = tag % 10 == 0 ? 70'000 : static_cast<std::size_t>(tag) * 17;
          data.push_back(pattern(size, static_cast<std::size_t>(tag * kRanks + i)));
          sent.emplace_back(data.back(), tag);
          sent.back().envelope = {4, i, tag};
          if (tag % 10 == 0 ||
              !channel(i).try_send({i, to}, sent.back().envelope, sent.back().bytes, sent.back().payload))
            channel(i).send({i, to}, sent.back());
          else
            sent.back().released();
          channel(i).drain(to);
        }
      while (!over) channel(i).drain(0);
      // A message may have come before its sender is told so.
      const auto all_are_back = [&] {
        return std::ranges::all_of(sent, [](const Message& one) { return one.times_released == 1; });
      };
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
      while (!all_are_back() && std::chrono::steady_clock::now() < end) channel(i).drain(0);
      EXPECT_TRUE(all_are_back());
    });
    threads.emplace_back([&, i] {  // only looks
      while (!over) channel(i).drain(1);
    });
  }
  const auto all_are_here = [&] {
    return std::ranges::all_of(sinks_,
                               [](const Basket& one) { return one.came == kMessages * (kRanks - 1); });
  };
  for (int i = 0; i < 60'000 && !all_are_here(); ++i) std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(all_are_here());
  drain_for(50ms);
  over = true;
  for (std::thread& thread : threads) thread.join();
  for (const Basket& basket : sinks_) {
    int next[kRanks] = {};
    for (const Basket::Entry& entry : basket.entries) {
      const int from = entry.envelope.source(), tag = entry.envelope.tag();
      ASSERT_EQ(tag, next[from]++) << "in order";
      ASSERT_EQ(entry.data, pattern(entry.data.size(), static_cast<std::size_t>(tag * kRanks + from)));
    }
  }
}

TEST_F(Ofi, AProcessThatIsLateKeepsUpNoOther) {
  open({.processes = 3});
  late_ = 1;
  Bytes data = pattern(100);
  Message to_late(data, 1), to_other(data, 2);
  channel(0).send({0, 1}, to_late);
  EXPECT_FALSE(channel(0).try_send({0, 1}, {4, 0, 3}, 0, {}));
  channel(0).send({0, 2}, to_other);
  ASSERT_TRUE(drain_until([&] { return sink(2).came == 1; }));
  EXPECT_EQ(sink(1).came, 0);
  Passed passed;
  EXPECT_FALSE(channel(0).rests(passed)) << "a message waits";
  late_ = -1;
  // Its sender may look no more: the network thread does.
  for (const auto end = std::chrono::steady_clock::now() + 60s; sink(1).came == 0;) {
    ASSERT_LT(std::chrono::steady_clock::now(), end);
    channel(1).drain(0);
  }
  EXPECT_EQ(sink(1).last().data, data);
}

TEST_F(Ofi, SaysWhomItCannotReach) {
  unknown_ = 1;
  Bytes data = pattern(10);
  Message sent(data, 1);
  channel(0).send({0, 1}, sent);
  ASSERT_EQ(lost_.size(), 1U);
  EXPECT_EQ(lost_.front(), "1: nobody has published it");
  lost_.clear();
}

}  // namespace
}  // namespace clump::net
