// The lane between two threads: everything comes out once, in order and whole.
#include "net/lane.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace clump::net {
namespace {

datatype::Layout bytes(void* base, std::size_t count) {
  return {base, static_cast<Count>(count), datatype::predefined(MPI_BYTE)};
}

bool push(Lane& lane, int destination, int tag, std::size_t size, const datatype::Layout& payload) {
  return lane.push(destination, {4, 3, tag}, static_cast<Count>(size), payload);
}

/// The size of the i-th message: mostly such that fit into a cell, and all around the edges.
std::size_t size_of(int i) {
  const auto x = static_cast<std::uint32_t>(i) * 2654435761u;
  switch (x >> 29) {
    case 0:
      return x % 4097;
    case 1:
      return 36 + x % 8;
    case 2:
      return 60 + x % 8;
    default:
      return x % 41;
  }
}

std::byte byte_of(int message, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(message) * 31 + i * 7) & 0xff);
}

const int* note_of(const Lane::Message& message) {
  const int* note = nullptr;
  if (message.is_note) std::memcpy(&note, message.data, sizeof note);
  return note;
}

TEST(Lane, GivesWhatItWasGiven) {
  const auto owned = Lane::make({8, 1024});
  Lane& lane = *owned;
  EXPECT_TRUE(lane.empty());
  EXPECT_FALSE(lane.ready());
  char text[] = "forty bytes fit into a cell, so this fits";
  ASSERT_TRUE(push(lane, 5, 17, 40, bytes(text, 40)));
  EXPECT_FALSE(lane.empty());
  ASSERT_TRUE(lane.ready());
  const Lane::Message message = lane.front();
  EXPECT_EQ(message.destination, 5);
  EXPECT_EQ(message.envelope.context(), 4u);
  EXPECT_EQ(message.envelope.source(), 3);
  EXPECT_EQ(message.envelope.tag(), 17);
  EXPECT_EQ(message.bytes, 40);
  EXPECT_FALSE(message.is_note);
  EXPECT_EQ(std::memcmp(message.data, text, 40), 0);
  EXPECT_FALSE(lane.empty()) << "not delivered yet";
  lane.pop();
  EXPECT_TRUE(lane.empty());
  EXPECT_FALSE(lane.ready());
}

TEST(Lane, CarriesNotes) {
  const auto owned = Lane::make({8, 1024});
  Lane& lane = *owned;
  const int place = 0;
  ASSERT_TRUE(lane.push_note(2, {4, 3, 9}, &place));
  EXPECT_EQ(note_of(lane.front()), &place);
  EXPECT_EQ(lane.front().envelope.tag(), 9);
  EXPECT_EQ(lane.front().destination, 2);
  lane.pop();
  EXPECT_TRUE(lane.empty());
}

TEST(Lane, IsFullOfCells) {
  const auto owned = Lane::make({8, 1024});
  Lane& lane = *owned;
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(push(lane, 0, i, 0, bytes(nullptr, 0)));
    ASSERT_FALSE(push(lane, 0, 8, 0, bytes(nullptr, 0)));
    for (int i = 0; i < 8; ++i) {
      ASSERT_TRUE(lane.ready());
      ASSERT_EQ(lane.front().envelope.tag(), i);
      lane.pop();
    }
    ASSERT_FALSE(lane.ready());
  }
}

TEST(Lane, IsFullOfBytes) {
  const auto owned = Lane::make({64, 1024});
  Lane& lane = *owned;
  std::vector<char> data(256);
  int pushed = 0;
  while (push(lane, 0, pushed, data.size(), bytes(data.data(), data.size()))) ++pushed;
  EXPECT_EQ(pushed, 4);
  EXPECT_TRUE(push(lane, 0, pushed, 8, bytes(data.data(), 8))) << "short ones need no such room";
  EXPECT_EQ(lane.front().bytes, 256);
  lane.pop();
  EXPECT_TRUE(push(lane, 0, 0, data.size(), bytes(data.data(), data.size())));
  EXPECT_FALSE(push(lane, 0, 0, data.size(), bytes(data.data(), data.size())));
}

TEST(Lane, PacksDerivedTypes) {
  const auto owned = Lane::make({8, 1024});
  Lane& lane = *owned;
  // A type that is not dense: there is a gap behind each pair.
  struct {
    double value;
    int index;
  } pairs[3] = {{1.5, 1}, {2.5, 2}, {3.5, 3}};
  const datatype::Layout layout{pairs, 3, datatype::predefined(MPI_DOUBLE_INT)};
  ASSERT_EQ(layout.bytes(), 36);
  ASSERT_TRUE(push(lane, 0, 0, 36, layout));
  const Lane::Message message = lane.front();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(std::memcmp(message.data + 12 * i, &pairs[i].value, 8), 0);
    EXPECT_EQ(std::memcmp(message.data + 12 * i + 8, &pairs[i].index, 4), 0);
  }
  lane.pop();
}

// As between processes: the two sides have the memory at different addresses.
TEST(Lane, LiesAtAnyAddress) {
  constexpr Lane::Size kSize{8, 1024};
  const int file = memfd_create("lane", 0);
  ASSERT_EQ(ftruncate(file, Lane::footprint(kSize)), 0);
  const auto map = [&] {
    return mmap(nullptr, Lane::footprint(kSize), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  };
  Lane& producer = Lane::make_at(map(), kSize);
  Lane& consumer = *static_cast<Lane*>(map());
  char text[256] = "more than fits into a cell";
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(push(producer, 0, i, sizeof text, bytes(text, sizeof text)));
    ASSERT_TRUE(consumer.ready());
    EXPECT_EQ(std::memcmp(consumer.front().data, text, sizeof text), 0);
    consumer.pop();
  }
  close(file);
}

TEST(Lane, TellsWhenRoomIsWanted) {
  const auto owned = Lane::make({2, 1024});
  Lane& lane = *owned;
  EXPECT_FALSE(lane.room_is_wanted());
  lane.want_room();
  EXPECT_TRUE(lane.room_is_wanted());
  EXPECT_FALSE(lane.room_is_wanted()) << "told once";
}

// Two threads; the consumer changes now and then, as if threads drained in turn.
TEST(Lane, KeepsOrderAndContentsBetweenThreads) {
  constexpr int kMessages = 400'000;
  const auto owned = Lane::make({32, 32 * 1024});
  Lane& lane = *owned;
  std::thread producer([&] {
    std::vector<std::byte> data(5000);
    int places[4];
    for (int i = 0; i < kMessages; ++i) {
      if (i % 97 == 0) {
        while (!lane.push_note(i, {}, &places[i / 97 % 4])) std::this_thread::yield();
        continue;
      }
      const std::size_t size = size_of(i);
      for (std::size_t k = 0; k < size; ++k) data[k] = byte_of(i, k);
      while (!push(lane, i, i, size, bytes(data.data(), size))) std::this_thread::yield();
    }
  });
  for (int i = 0; i < kMessages; ++i) {
    while (!lane.ready()) std::this_thread::yield();
    const Lane::Message message = lane.front();
    ASSERT_EQ(message.destination, i);
    ASSERT_EQ(message.is_note, i % 97 == 0);
    if (!message.is_note) {
      ASSERT_EQ(message.envelope.tag(), i);
      ASSERT_EQ(static_cast<std::size_t>(message.bytes), size_of(i));
      for (std::size_t k = 0; k < size_of(i); ++k) ASSERT_EQ(message.data[k], byte_of(i, k)) << i << ' ' << k;
    }
    lane.pop();
  }
  producer.join();
  EXPECT_TRUE(lane.empty());
}

}  // namespace
}  // namespace clump::net
