// For tests of the ofi channel: several processes' channels in one, over the loopback interface.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <mutex>
#include <vector>

#include "base/environment.h"
#include "net/ofi/addresses.h"
#include "net/ofi/ofi_channel.h"

namespace clump::net {

using namespace std::chrono_literals;
using Bytes = std::vector<std::byte>;

inline datatype::Layout bytes_at(void* base, std::size_t count) {
  return {base, static_cast<Count>(count), datatype::predefined(MPI_BYTE)};
}

inline Bytes pattern(std::size_t size, std::size_t seed = 0) {
  Bytes data(size);
  for (std::size_t i = 0; i < size; ++i) data[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
  return data;
}

/// Keeps everything, in the order of the calls; announced messages are fetched at once, or when it is told
/// to.
class Basket final : public Sink {
 public:
  struct Entry {
    Envelope envelope;
    Bytes data;
    std::atomic<bool> here{false};
    SendRequest* message = nullptr;
    datatype::Layout to;
  };

  bool take(Envelope envelope, Count bytes, const datatype::Layout& payload, Bound) override {
    const std::lock_guard lock(mutex);
    Entry& entry = add(envelope, bytes);
    if (bytes > 0) datatype::pack(entry.data, payload, 0);
    taken_bytes += bytes;
    arrived(entry);
    return true;
  }
  bool arrive(SendRequest& message) override {
    const std::lock_guard lock(mutex);
    Entry& entry = add(message.envelope, message.bytes);
    message.match = &entry;
    if (!wanted) entry.message = &message;
    return wanted;
  }
  void move(SendRequest& message) override {
    auto& entry = *static_cast<Entry*>(message.match);
    message.fetch(entry.to, std::min(message.bytes, most_wanted.load()));
  }
  void fetched(SendRequest& message) override { arrived(*static_cast<Entry*>(message.match)); }
  bool retract(SendRequest&) override { return false; }
  SendRequest* retract_remote(Envelope, const SendRequest* original) override {
    const std::lock_guard lock(mutex);
    for (Entry& entry : entries)
      if (entry.message != nullptr && entry.message->original == original)
        return std::exchange(entry.message, nullptr);
    return nullptr;
  }

  void fetch_all() {
    std::vector<SendRequest*> waiting;
    {
      const std::lock_guard lock(mutex);
      for (Entry& entry : entries)
        if (entry.message != nullptr) waiting.push_back(std::exchange(entry.message, nullptr));
    }
    for (SendRequest* message : waiting) move(*message);
  }
  std::size_t size() {
    const std::lock_guard lock(mutex);
    return entries.size();
  }
  // Entries stay where they are.
  Entry& entry(std::size_t number) {
    const std::lock_guard lock(mutex);
    return entries[number];
  }
  Entry& last() {
    const std::lock_guard lock(mutex);
    return entries.back();
  }
  void set_crowded(bool crowded) { crowded_.store(crowded); }

  std::mutex mutex;
  std::deque<Entry> entries;
  std::atomic<int> came{0};
  std::atomic<Count> taken_bytes{0};
  std::atomic<bool> wanted{true};
  std::atomic<Count> most_wanted{Count{1} << 40};
  std::atomic<const datatype::Datatype*> type{nullptr};  // of receives, if it is not bytes

 private:
  Entry& add(Envelope envelope, Count bytes) {
    Entry& entry = entries.emplace_back();
    entry.envelope = envelope;
    const datatype::Datatype* const type = this->type;
    if (type == nullptr) {
      entry.data.resize(static_cast<std::size_t>(bytes));
      entry.to = bytes_at(entry.data.data(), entry.data.size());
    } else {
      const Count count = bytes / type->size();
      entry.data.resize(static_cast<std::size_t>(count * type->extent()));
      entry.to = {entry.data.data(), count, type};
    }
    return entry;
  }
  void arrived(Entry& entry) {
    entry.here = true;
    ++came;
  }
};

class Message final : public SendRequest {
 public:
  Message() = default;
  Message(Bytes& data, int tag, bool is_synchronous = false) {
    envelope = {4, 0, tag};
    bytes = static_cast<Count>(data.size());
    payload = bytes_at(data.data(), data.size());
    synchronous = is_synchronous;
  }
  void released() override { ++times_released; }
  void cancelled() override { ++times_withdrawn; }
  std::atomic<int> times_released{0}, times_withdrawn{0};
};

/// Rank i is alone in process i.
class Ofi : public testing::Test {
 protected:
  struct Options {
    int processes = 2;
    int endpoints = 1;
    int stranger = -1;  // this one does not know the others' tokens
    int named = 0;      // so many more processes are part of the job, but not here; they have named_address_
    Sink* sink = nullptr;  // of rank 1, in place of its basket
  };

  void open(Options options) {
    const auto n = static_cast<std::size_t>(options.processes);
    channels_.clear();
    sinks_ = std::deque<Basket>(n);
    channels_.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
      OfiChannel::Setup setup;
      const std::size_t all = n + static_cast<std::size_t>(options.named);
      setup.sinks.resize(all);
      setup.sinks[i] = i == 1 && options.sink != nullptr ? options.sink : &sinks_[i];
      for (std::size_t rank = 0; rank < all; ++rank) setup.processes.push_back(static_cast<int>(rank));
      setup.process = static_cast<int>(i);
      setup.interface_address = "127.0.0.1";
      if (const char* provider = base::variable("CLUMP_OFI_PROVIDER")) setup.provider = provider;
      setup.endpoints = options.endpoints;
      const bool is_stranger = static_cast<int>(i) == options.stranger;
      setup.find = [this, is_stranger](int process, std::vector<std::byte>& address) -> base::Status {
        if (process == late_) return {};
        if (process == unknown_) return base::fail(MPI_ERR_OTHER, "nobody has published it");
        if (static_cast<std::size_t>(process) >= channels_.size()) {
          address = named_address_;
          return {};
        }
        ofi::PublishedAddress found;
        EXPECT_TRUE(
            ofi::PublishedAddress::unpack(channels_[static_cast<std::size_t>(process)]->address(), found));
        if (is_stranger) ++found.token;
        address = found.packed();
        return {};
      };
      setup.lost = [this](int process, std::string what) {
        const std::lock_guard lock(mutex_);
        lost_.push_back(fmt::format("{}: {}", process, what));
      };
      const base::Status opened = OfiChannel::open(std::move(setup), channels_[i]);
      ASSERT_TRUE(opened.ok()) << base::message_of(opened.code());
    }
  }
  void SetUp() override { open({}); }
  void TearDown() override { EXPECT_TRUE(lost_.empty()) << lost_.front(); }

  OfiChannel& channel(int i) { return *channels_[static_cast<std::size_t>(i)]; }
  Basket& sink(int i) { return sinks_[static_cast<std::size_t>(i)]; }

  /// Lets all channels look until `done`; false if it does not come true.
  template <typename Done>
  bool drain_until(Done done) {
    for (const auto end = std::chrono::steady_clock::now() + 60s; std::chrono::steady_clock::now() < end;) {
      for (const auto& one : channels_)
        if (one != nullptr) one->drain(0);
      if (done()) return true;
    }
    return false;
  }
  void drain_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    drain_until([&] { return std::chrono::steady_clock::now() >= end; });
  }

  std::deque<Basket> sinks_;
  std::vector<std::unique_ptr<OfiChannel>> channels_;
  std::mutex mutex_;
  std::vector<std::string> lost_;
  int unknown_ = -1;
  std::atomic<int> late_{-1};  // it has not published its address yet
  Bytes named_address_;
};

}  // namespace clump::net
