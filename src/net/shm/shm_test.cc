// Two processes' channels in one: messages of all kinds between two ranks, and memory that they share.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <functional>
#include <numeric>
#include <thread>
#include <vector>

#include "net/shm/remote_memory.h"
#include "net/shm/shared_allocator.h"
#include "net/shm/shm_channel.h"

namespace clump::net {
namespace {

datatype::Layout bytes_at(void* base, std::size_t count) {
  return {base, static_cast<Count>(count), datatype::predefined(MPI_BYTE)};
}

/// Takes everything into one buffer; remote messages when it is told to.
class Basket final : public Sink {
 public:
  bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    last = envelope;
    data.resize(static_cast<std::size_t>(bytes));
    if (bytes > 0) datatype::pack(data, payload, 0);
    ++came;
    return true;
  }
  bool arrive(SendRequest& message) override {
    last = message.envelope;
    waiting = &message;
    return wanted;
  }
  void move(SendRequest& message) override {
    data.assign(static_cast<std::size_t>(message.bytes), std::byte{0});
    message.fetch(bytes_at(data.data(), data.size()), message.bytes);
  }
  void fetched(SendRequest&) override { ++came; }
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope envelope, const SendRequest* original) override {
    const bool is_here = waiting != nullptr && waiting->original == original && waiting->envelope == envelope;
    return is_here ? std::exchange(waiting, nullptr) : nullptr;
  }

  Envelope last;
  std::vector<std::byte> data;
  int came = 0;
  bool wanted = true;
  SendRequest* waiting = nullptr;
};

class Message final : public SendRequest {
 public:
  Message() = default;
  Message(const Message& other) : SendRequest(other) {}
  void released() override {
    if (before_released) before_released();
    ++times_released;
    released_by_now.store(times_released, std::memory_order_release);
  }
  void cancelled() override { ++times_withdrawn; }
  std::function<void()> before_released;  // what other threads do meanwhile; not copied
  int times_released = 0, times_withdrawn = 0;
  std::atomic<int> released_by_now{0};  // the same, for another thread
};

/// Rank 0 at port 0, rank 1 at port 1.
class Shm : public testing::Test {
 protected:
  Shm() : file_(memfd_create("shm test", 0)) {
    const std::size_t all = Segment(2, 2).bytes();
    EXPECT_EQ(ftruncate(file_, static_cast<off_t>(all)), 0);
    for (int port : {0, 1}) {
      ShmChannel::Setup setup{.sinks = {nullptr, nullptr},
                              .ports = {0, 1},
                              .first_port = port,
                              .own_ports = 1,
                              .segment = Segment(2, 2),
                              .bells = bells_,
                              .read_from = 200'000};
      setup.sinks[static_cast<std::size_t>(port)] = &sinks_[port];
      // At another address, as in another process.
      setup.segment.set_base(static_cast<std::byte*>(
          mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file_, 0)));
      channels_[port] = std::make_unique<ShmChannel>(std::move(setup));
    }
  }
  ~Shm() override { close(file_); }

  void settle() {
    for (int i = 0; i < 2000; ++i)
      for (const auto& channel : channels_) channel->drain(0);
  }
  /// What a thread of a port does before it sleeps without a limit.
  void drain_until_it_may_sleep(int port) {
    while (channels_[port]->drain(0)) {
    }
  }
  Message message(std::vector<std::byte>& data, bool synchronous) {
    Message made;
    made.envelope = {4, 0, 7};
    made.bytes = static_cast<Count>(data.size());
    made.payload = bytes_at(data.data(), data.size());
    made.synchronous = synchronous;
    return made;
  }
  static std::vector<std::byte> pattern(std::size_t size) {
    std::vector<std::byte> data(size);
    for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251);
    return data;
  }

  /// Messages of 3 MB, one after the other, while a thread works for the sender.
  void exchange_large(int times) {
    std::vector<std::byte> data = pattern(3'000'000);
    std::atomic<bool> over{false};
    std::thread sender([&] {
      while (!over.load()) channels_[0]->drain(0);
    });
    for (int i = 0; i < times; ++i) {
      data[static_cast<std::size_t>(i) * 50'000] ^= std::byte{1};
      Message sent = message(data, true);
      const int before = sinks_[1].came;
      channels_[0]->send({0, 1}, sent);
      while (sinks_[1].came == before) channels_[1]->drain(0);
      EXPECT_EQ(sinks_[1].data, data);
      while (sent.released_by_now.load() == 0) std::this_thread::yield();
    }
    over = true;
    sender.join();
  }

  int file_;
  base::Bell bells_[2];
  Basket sinks_[2];
  std::unique_ptr<ShmChannel> channels_[2];
};

TEST_F(Shm, CarriesShortMessagesAtOnce) {
  char text[] = "short";
  ASSERT_TRUE(channels_[0]->try_send({0, 1}, {4, 0, 9}, sizeof text, bytes_at(text, sizeof text)));
  EXPECT_TRUE(channels_[1]->drain(0));
  EXPECT_EQ(sinks_[1].last.tag(), 9);
  EXPECT_EQ(std::memcmp(sinks_[1].data.data(), text, sizeof text), 0);
  EXPECT_FALSE(channels_[1]->drain(0));
}

TEST_F(Shm, CarriesAnythingInPieces) {
  for (const bool synchronous : {false, true})
    for (const std::size_t size :
         {0, 1, 2048, 2049, 4096, 4097, 16'384, 16'385, 40'000, 65'536, 65'537, 300'000}) {
      std::vector<std::byte> data = pattern(size);
      Message sent = message(data, synchronous);
      const int before = sinks_[1].came;
      channels_[0]->send({0, 1}, sent);
      settle();
      EXPECT_EQ(sinks_[1].came, before + 1) << size;
      EXPECT_EQ(sent.times_released, 1) << size;
      EXPECT_EQ(sinks_[1].data, data) << size;
    }
}

TEST_F(Shm, KeepsWhatComesBeforeItIsWanted) {
  std::vector<std::byte> data = pattern(10'000);
  Message sent = message(data, false);
  sinks_[1].wanted = false;
  channels_[0]->send({0, 1}, sent);
  settle();
  EXPECT_EQ(sent.times_released, 1) << "all of it has gone";
  EXPECT_EQ(sinks_[1].came, 0);
  sinks_[1].move(*sinks_[1].waiting);
  EXPECT_EQ(sinks_[1].came, 1);
  EXPECT_EQ(sinks_[1].data, data);
}

/// An emulator may not know how.
bool can_read_from_processes() {
  char from = 1, to = 0;
  const datatype::Layout place{&to, 1, datatype::predefined(MPI_BYTE)};
  return read_from(::getpid(), &from, 1, place) && to == from;
}

TEST_F(Shm, ReadsFromSendersWhoDoNotLook) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  std::vector<std::byte> data = pattern(100'000);
  Message sent = message(data, true);
  channels_[0]->send({0, 1}, sent);
  drain_until_it_may_sleep(1);
  EXPECT_EQ(sinks_[1].came, 1) << "the sender was never asked to do anything";
  EXPECT_EQ(sinks_[1].data, data);
  EXPECT_EQ(sent.times_released, 0);
  settle();
  EXPECT_EQ(sent.times_released, 1);
}

TEST_F(Shm, ReadsFromSendersWhoDoNotLookWhilePolling) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  std::vector<std::byte> data = pattern(100'000);
  Message sent = message(data, true);
  channels_[0]->send({0, 1}, sent);
  for (int i = 0; i < 10'000'000 && sinks_[1].came == 0; ++i) channels_[1]->poll(1);
  EXPECT_EQ(sinks_[1].came, 1) << "as MPI_Test does, and nothing else";
  EXPECT_EQ(sinks_[1].data, data);
  settle();
}

TEST_F(Shm, WakesASleeperForWhatAnotherThreadHasAskedFor) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  std::vector<std::byte> data = pattern(100'000);
  Message sent = message(data, true);
  channels_[0]->send({0, 1}, sent);
  bells_[1].progress_sleeper = 1;  // it has looked, and will look no more before it is woken
  channels_[1]->poll(1);           // which returns to a thread that has something else to do
  EXPECT_EQ(bells_[1].progress_sleeper, 0u);
  drain_until_it_may_sleep(1);
  EXPECT_EQ(sinks_[1].came, 1);
  settle();
}

TEST_F(Shm, ReadsAtOnceWhatIsTooManyToAskFor) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  constexpr int kMany = static_cast<int>(Segment::kTickets) + 6;
  std::vector<std::byte> data = pattern(70'000);
  std::vector<Message> sent(kMany, message(data, true));
  for (Message& one : sent) channels_[0]->send({0, 1}, one);
  drain_until_it_may_sleep(1);
  EXPECT_EQ(sinks_[1].came, kMany) << "the sender was never asked to do anything";
  settle();
  for (const Message& one : sent) EXPECT_EQ(one.times_released, 1);
}

TEST_F(Shm, ReceiversMoveLargeMessagesWithoutTheirSenders) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  for (const std::size_t size : {1'048'576, 1'048'577, 1'500'000, 5'000'000}) {
    std::vector<std::byte> data = pattern(size);
    Message first = message(data, true), sent = message(data, true);
    channels_[0]->send({0, 1}, first);  // shows that they may
    settle();
    const int before = sinks_[1].came;
    channels_[0]->send({0, 1}, sent);
    EXPECT_TRUE(channels_[1]->drain(0));
    EXPECT_EQ(sinks_[1].came, before + 1) << "the sender has not looked";
    EXPECT_EQ(sinks_[1].data, data) << size;
    settle();
    EXPECT_EQ(sent.times_released, 1);
  }
}

TEST_F(Shm, BothSidesMoveLargeMessages) { exchange_large(60); }

TEST_F(Shm, LargeMessagesGoInPiecesWhereTheSenderCannotWrite) {
  channels_[1]->segment().owner(1).number = -1;  // which nobody is
  exchange_large(20);
}

// As in PID namespaces, where the number is that of another process, which has other memory at the address.
TEST_F(Shm, ReadsFromNoProcessThatOnlyHasTheNumber) {
  channels_[0]->segment().owner(0).secret ^= 1;
  std::vector<std::byte> data = pattern(100'000);
  Message sent = message(data, true);
  channels_[0]->send({0, 1}, sent);
  drain_until_it_may_sleep(1);
  EXPECT_EQ(sinks_[1].came, 0) << "the receiver has read from a process that may not be the sender";
  settle();
  EXPECT_EQ(sinks_[1].came, 1);
  EXPECT_EQ(sinks_[1].data, data);
  EXPECT_EQ(sent.times_released, 1);
}

TEST_F(Shm, WritesToNoProcessThatOnlyHasTheNumber) {
  if (!can_read_from_processes()) GTEST_SKIP() << "no process_vm_readv";
  channels_[1]->segment().owner(1).secret ^= 1;
  std::vector<std::byte> data = pattern(3'000'000);
  Message first = message(data, true);
  channels_[0]->send({0, 1}, first);  // shows that the receiver may read
  settle();
  ASSERT_TRUE(channels_[1]->shares());
  // The sender claims a part, and the receiver all others.
  std::vector<std::byte> into(data.size());
  const std::uint64_t ticket = channels_[1]->share(1);
  Message sent = message(data, true);
  CtsNote note{};
  note.message = &sent;
  note.bytes = sent.bytes;
  note.ticket = ticket;
  note.into = into.data();
  channels_[0]->write_parts(0, 1, note);
  EXPECT_EQ(into, std::vector<std::byte>(data.size()))
      << "the sender has written to a process that may not be the receiver";
}

TEST_F(Shm, GivesBackWhatNobodyWants) {
  std::vector<std::byte> data = pattern(50'000);
  Message sent = message(data, true);
  sinks_[1].wanted = false;
  channels_[0]->send({0, 1}, sent);
  settle();
  EXPECT_FALSE(channels_[0]->retract({0, 1}, sent)) << "the other side is asked";
  settle();
  EXPECT_EQ(sent.times_withdrawn, 1);
  EXPECT_EQ(sent.times_released, 0);
}

// All of the second one is in the lane, but the thread that has put it there has not released it yet.
TEST_F(Shm, DoesNotGiveBackWhatIsAboutToBeReleased) {
  std::vector<std::byte> data = pattern(50'000);
  Message first = message(data, false), second = message(data, false);
  while (channels_[0]->try_send({0, 1}, {4, 0, 1}, 8, bytes_at(data.data(), 8))) {
  }
  channels_[0]->send({0, 1}, first);
  channels_[0]->send({0, 1}, second);
  ASSERT_EQ(first.times_released + second.times_released, 0) << "both wait";
  bool is_back = true;
  first.before_released = [&] { is_back = channels_[0]->retract({0, 1}, second); };
  sinks_[1].wanted = false;
  settle();
  EXPECT_FALSE(is_back);
  EXPECT_EQ(second.times_released, 1);
  EXPECT_EQ(second.times_withdrawn, 0) << "it was released before, and may be gone";
  EXPECT_NE(sinks_[1].waiting, nullptr) << "the receiver has it no more, though its send has succeeded";
}

TEST_F(Shm, GivesBackTheLaterOfTwoAtTheSameAddress) {
  std::vector<std::byte> data = pattern(50'000);
  sinks_[1].wanted = false;
  Message sent = message(data, false);
  channels_[0]->send({0, 1}, sent);
  settle();
  ASSERT_EQ(sent.times_released, 1);
  SendRequest* const earlier = std::exchange(sinks_[1].waiting, nullptr);
  sent.synchronous = true;
  channels_[0]->send({0, 1}, sent);
  settle();
  SendRequest* const later = std::exchange(sinks_[1].waiting, earlier);
  EXPECT_FALSE(channels_[0]->retract({0, 1}, sent));
  settle();
  EXPECT_EQ(sinks_[1].waiting, earlier) << "its send has succeeded";
  EXPECT_EQ(sent.times_withdrawn, 0) << "the receiver has been asked for another one";
  sinks_[1].waiting = later;
  EXPECT_FALSE(channels_[0]->retract({0, 1}, sent));
  settle();
  EXPECT_EQ(sent.times_withdrawn, 1);
}

TEST_F(Shm, KeepsWhatFindsNoRoom) {
  std::vector<std::byte> data = pattern(1000);
  std::vector<Message> sent(500, message(data, false));
  for (Message& one : sent) channels_[0]->send({0, 1}, one);
  EXPECT_EQ(sent.back().times_released, 0) << "it waits";
  EXPECT_FALSE(channels_[0]->try_send({0, 1}, {4, 0, 8}, 1, bytes_at(data.data(), 1))) << "nothing overtakes";
  settle();
  EXPECT_EQ(sinks_[1].came, 500);
  for (const Message& one : sent) EXPECT_EQ(one.times_released, 1);
}

TEST_F(Shm, CarriesStagedMessagesAtOnce) {
  const std::vector<std::byte> data = pattern(16'384);
  for (int i = 0; i < 100; ++i) {
    auto* const bytes = const_cast<std::byte*>(data.data());
    ASSERT_TRUE(channels_[0]->try_send({0, 1}, {4, 0, i}, 16'384, bytes_at(bytes, 16'384)))
        << "staging_buffers come back to those who only send";
    settle();
    EXPECT_EQ(sinks_[1].last.tag(), i);
    EXPECT_EQ(sinks_[1].data, data);
  }
}

TEST_F(Shm, DoesWithoutCratesWhenThereAreNone) {
  std::vector<std::byte> data = pattern(60'000);
  std::vector<Message> sent(100, message(data, false));
  for (Message& one : sent) channels_[0]->send({0, 1}, one);
  EXPECT_EQ(sent.back().times_released, 0) << "it waits";
  settle();
  EXPECT_EQ(sinks_[1].came, 100);
  EXPECT_EQ(sinks_[1].data, data);
  for (const Message& one : sent) EXPECT_EQ(one.times_released, 1);
}

TEST(StagingBuffers, AreUsedWhileTheyAreWarm) {
  StagingBuffers staging_buffers(1);
  constexpr std::uint32_t kEach = StagingBuffers::kOfWorker;
  EXPECT_EQ(staging_buffers.take(), 2 * kEach - 1);
  staging_buffers.put(7);
  EXPECT_EQ(staging_buffers.take(), 7);
  staging_buffers.put(8);
  EXPECT_EQ(staging_buffers.exchange(9), kEach) << "the one that was not used for longest goes";
  EXPECT_EQ(staging_buffers.take(), 9);
  EXPECT_FALSE(staging_buffers.are_few());
  for (std::uint32_t left = kEach - 1; left > 0; --left) EXPECT_TRUE(staging_buffers.take().has_value());
  EXPECT_TRUE(staging_buffers.are_few());
  EXPECT_FALSE(staging_buffers.take().has_value());
}

TEST_F(Shm, SharesPlacesByKey) {
  SharedAllocator one(*channels_[0]), other(*channels_[1]);
  const std::int64_t used = one.allocate(10'000);
  std::memset(one.at(used), 0xff, 10'000);
  one.release(used, 10'000);
  const std::int64_t a = one.share(77, 2, {10'000, 10'000}), b = one.share(78, 2, {10'000, 10'000});
  EXPECT_NE(a, b);
  EXPECT_EQ(other.share(78, 2, {10'000, 10'000}), b);
  EXPECT_EQ(other.share(77, 2, {10'000, 10'000}), a);
  EXPECT_EQ(std::count(one.at(a) + SharedAllocator::kOwn, one.at(a) + 10'000, std::byte(0)),
            10'000 - SharedAllocator::kOwn);
  std::memcpy(one.at(a), "same", 5);
  EXPECT_STREQ(reinterpret_cast<const char*>(other.at(a)), "same");
  EXPECT_NE(one.share(77, 1, {10'000, 10'000}), a) << "the key is free again, the place is not";
  one.release(a, 10'000);
  EXPECT_EQ(other.allocate(10'000), a);
}

TEST_F(Shm, AllUsersOfAKeyGetNoPlaceIfOneGetsNone) {
  SharedAllocator one(*channels_[0]), other(*channels_[1]);
  Segment::Common& common = channels_[0]->segment().common();
  const std::int64_t known = one.share(77, 2, {10'000, 10'000});
  common.used_regions = Segment::kNamedRegions;  // as if so many were known to some of their users
  EXPECT_LT(one.share(78, 2, {10'000, 10'000}), 0);
  const std::uint64_t used = common.used;
  EXPECT_LT(one.share(79, 2, {10'000, 10'000}), 0);
  EXPECT_EQ(common.used, used) << "what it had taken is free again";
  EXPECT_EQ(other.share(77, 2, {10'000, 10'000}), known);  // now there is room for one
  EXPECT_LT(other.share(78, 2, {10'000, 10'000}), 0) << "the other user goes without";
}

}  // namespace
}  // namespace clump::net
