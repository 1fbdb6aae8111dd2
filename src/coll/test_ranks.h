// For unit tests of this folder: ranks that are threads of the test, and data for them.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "coll/test_calls.h"
#include "core/rank.h"
#include "net/self/self_channel.h"
#include "p2p/matcher.h"

namespace clump::coll {

/// Counts the messages, and their bytes, whose two ranks are on different hosts.
class CountingChannel final : public net::Channel {
 public:
  CountingChannel(std::unique_ptr<net::Channel> channel, const core::World& world)
      : net::Channel(channel->kind()), channel_(std::move(channel)), world_(world) {}

  int crossings() const { return crossings_; }
  Count crossing_bytes() const { return crossing_bytes_; }

  const net::Traffic& traffic(int rank) const override { return channel_->traffic(rank); }
  bool try_send(net::Route route, net::Envelope envelope, Count bytes, const Layout& payload) override {
    const bool sent = channel_->try_send(route, envelope, bytes, payload);
    if (sent) count(route, bytes);
    return sent;
  }
  void send(net::Route route, net::SendRequest& message) override {
    count(route, message.bytes);
    channel_->send(route, message);
  }
  bool retract(net::Route route, net::SendRequest& message) override {
    return channel_->retract(route, message);
  }
  void poll(int rank) override { channel_->poll(rank); }
  bool drain(int worker) override { return channel_->drain(worker); }
  void submit(int rank, net::ProgressTask& task) override {
    if (left_.empty()) return channel_->submit(rank, task);
    left_[static_cast<std::size_t>(world_.homes[static_cast<std::size_t>(rank)])].push(task);
  }

  /// From now on tasks wait for run_left(), as if each home was a worker.
  void keep_tasks(int homes) { left_ = std::vector<net::ProgressTaskList>(static_cast<std::size_t>(homes)); }
  void run_left(int home) { net::run_here(left_[static_cast<std::size_t>(home)].take_all()); }

 private:
  void count(net::Route route, Count bytes) {
    if (world_.node_of(route.source) == world_.node_of(route.destination)) return;
    ++crossings_;
    crossing_bytes_ += bytes;
  }
  const std::unique_ptr<net::Channel> channel_;
  const core::World& world_;
  std::vector<net::ProgressTaskList> left_;  // by home
  std::atomic<int> crossings_{0};
  std::atomic<Count> crossing_bytes_{0};
};

/// Ranks of one process without a runtime.
class Job {
 public:
  /// `homes`: which ranks take turns on a core; empty: not known. `nodes`: which host each is on.
  explicit Job(int size, std::vector<int> homes = {}, std::vector<int> nodes = {}) {
    world_.launch.size = size;
    world_.homes = std::move(homes);
    world_.nodes = std::move(nodes);
    std::vector<net::Sink*> sinks;
    for (int i = 0; i < size; ++i) {
      auto& rank = world_.ranks.emplace_back(std::make_unique<core::Rank>(world_, world_.launch, i));
      rank->inbox = std::make_unique<p2p::Matcher>();
      sinks.push_back(rank->inbox.get());
    }
    auto channel =
        std::make_unique<CountingChannel>(std::make_unique<net::SelfChannel>(std::move(sinks)), world_);
    channel_ = channel.get();
    world_.channels.push_back(std::move(channel));
    world_.routes.assign(size, channel_);
  }

  /// Messages so far between ranks on different hosts.
  int crossings() const { return channel_->crossings(); }
  Count crossing_bytes() const { return channel_->crossing_bytes(); }

  /// Tasks that are left for ranks at one of so many homes wait for run_left().
  void keep_tasks(int homes) { channel_->keep_tasks(homes); }
  void run_left(int home) { channel_->run_left(home); }

  /// Runs `body` on all ranks at once.
  void run(const std::function<void(core::Comm&)>& body) {
    std::vector<std::thread> threads;
    for (auto& rank : world_.ranks) threads.emplace_back([&] { body(*rank->comm_world); });
    for (auto& thread : threads) thread.join();
  }

 private:
  core::World world_;
  CountingChannel* channel_;
};

inline Layout ints(std::vector<int>& values) {
  return {values.data(), static_cast<Count>(values.size()), datatype::predefined(MPI_INT)};
}

// Composition of x -> a x + b modulo a prime does not commute.
constexpr int kPrime = 10007;
inline void compose(void* in, void* inout, int* length, MPI_Datatype*) {
  const int* left = static_cast<const int*>(in);
  int* right = static_cast<int*>(inout);
  for (int i = 0; i + 1 < *length; i += 2) {
    right[i + 1] = (left[i] * right[i + 1] + left[i + 1]) % kPrime;
    right[i] = left[i] * right[i] % kPrime;
  }
}

inline std::vector<int> operand(int rank, int count) {
  std::vector<int> values(count);
  for (int i = 0; i < count; ++i) values[i] = 2 + (rank * 31 + i * 7) % 1000;
  return values;
}

inline std::vector<int> composed(int last, int count) {
  std::vector<int> all = operand(last, count);
  for (int rank = last - 1; rank >= 0; --rank) {
    std::vector<int> left = operand(rank, count);
    compose(left.data(), all.data(), &count, nullptr);
  }
  return all;
}

}  // namespace clump::coll
