// For tests of the link channel: two link channels in one process, as if they were of two jobs.
#pragma once

#include "net/link/link_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/status.h"

namespace clump::net {

using link::JobName;
using link::PeerName;

inline datatype::Layout ints(std::vector<int>& values) {
  return {values.data(), static_cast<Count>(values.size()), datatype::predefined(MPI_INT)};
}

inline void wait_for(const std::function<bool()>& condition) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition() && std::chrono::steady_clock::now() < limit) std::this_thread::yield();
  ASSERT_TRUE(condition());
}

/// Keeps what arrives; fetches what is announced, if it is to.
class Receiver final : public Sink {
 public:
  struct Message {
    Envelope envelope;
    std::vector<int> values;
  };
  bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    std::vector<int> values((static_cast<std::size_t>(bytes) + sizeof(int) - 1) / sizeof(int));
    datatype::copy(ints(values), payload, 0, bytes);
    const std::lock_guard lock(mutex_);
    came_.push_back({envelope, std::move(values)});
    return true;
  }
  bool arrive(SendRequest& message) override {
    const std::lock_guard lock(mutex_);
    if (waits) {
      kept_ = &message;
      return false;
    }
    return true;
  }
  void move(SendRequest& message) override {
    auto& fresh = fetching_;
    fresh.envelope = message.envelope;
    fresh.values.assign(static_cast<std::size_t>(message.bytes) / sizeof(int), 0);
    message.fetch(ints(fresh.values), message.bytes);
  }
  void fetched(SendRequest&) override {
    const std::lock_guard lock(mutex_);
    came_.push_back(std::move(fetching_));
  }
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope, const SendRequest* original) override {
    const std::lock_guard lock(mutex_);
    if (kept_ == nullptr || kept_->original != original) return nullptr;
    return std::exchange(kept_, nullptr);
  }
  std::size_t count() {
    const std::lock_guard lock(mutex_);
    return came_.size();
  }
  SendRequest* kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }
  const Message& at(std::size_t i) { return came_[i]; }
  void become_crowded(bool is) { crowded_ = is; }

  std::atomic<bool> waits{false};

 private:
  std::mutex mutex_;
  std::vector<Message> came_;
  Message fetching_;
  SendRequest* kept_ = nullptr;
};

struct Send final : SendRequest {
  void released() override { is_released = true; }
  void cancelled() override { is_cancelled = true; }
  std::atomic<bool> is_released{false}, is_cancelled{false};
};

inline constexpr std::uint32_t kJobContext = 6, kContext = 0x80000010;

/// A job of one process with one rank, 0.
struct Job {
  explicit Job(std::uint32_t checks = 0, int places = 4)
      : name{base::random_number(), base::random_number()} {
    LinkChannel::Setup setup;
    setup.job = name;
    setup.checks = checks;
    setup.first_place = 1;
    setup.places = places;
    setup.job_context = kJobContext;
    setup.process_of = [](int) { return 0; };
    setup.find_sink = [this](int rank) { return rank == 0 ? &receiver : nullptr; };
    setup.take_place = [](int) {};
    setup.lost = [this](int, const PeerName& of, const std::string& why) {
      lost = of;
      lost_by = why;
      ++losses;
    };
    setup.gone = [this](int) { ++departures; };
    channel = new LinkChannel(std::move(setup));  // its thread never ends
  }
  PeerName rank() const { return {name, 0, 0}; }

  JobName name;
  Receiver receiver;
  std::atomic<int> losses{0}, departures{0};
  PeerName lost;
  std::string lost_by;  // in words; both are read after `losses`
  LinkChannel* channel;
};

/// The server listens, and the client has a place for the server's rank.
class Link : public testing::Test {
 protected:
  void meet() {
    ASSERT_TRUE(server.channel->listen().ok());
    ASSERT_TRUE(client.channel->connect(server.rank()).ok());
    held = client.channel->hold_place_of(server.rank(), place);
    ASSERT_EQ(place, 4);  // from the last one down
  }
  void send(int value, std::uint32_t context = kContext) {
    std::vector<int> values{value};
    ASSERT_TRUE(client.channel->try_send({0, place}, Envelope(context, 0, 3), sizeof value, ints(values)));
  }

  // Never freed: the threads of their channels go on.
  Job& server = *new Job;
  Job& client = *new Job;
  int place = -1;
  HeldPlace held;
};

}  // namespace clump::net
