// The channel to ranks in the same address space in an explored run (fiber/exploration.h). It keeps the
// messages that are on their way, in order for each pair of ranks, and the seed decides which pair's next
// message arrives, and when: so all orders that the standard allows can occur, and no others.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "fiber/exploration.h"
#include "net/channel.h"

namespace clump::net {

class DrawnChannel final : public Channel {
 public:
  /// `sinks[rank]` is the sink of that rank of the job. The sinks outlive the channel.
  explicit DrawnChannel(std::vector<Sink*> sinks)
      : Channel(ChannelKind::kSelf), sinks_(std::move(sinks)), traffic_(sinks_.size()) {}

  const Traffic& traffic(int rank) const override { return traffic_[static_cast<std::size_t>(rank)]; }
  bool try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) override;
  void send(Route route, SendRequest& message) override;
  bool retract(Route route, SendRequest& message) override;
  /// Does nothing: exploration draws what arrives, not a thread that polls.
  void poll(int) override {}
  void submit(int, ProgressTask& task) override { run_here(&task); }
  bool drain(int) override { return false; }

 private:
  /// The messages from one rank to another.
  class Link final : public fiber::exploration::Mover {
   public:
    explicit Link(Sink& sink) : sink_(sink) {}
    struct Message {
      Envelope envelope;
      std::vector<std::byte> copy;      ///< of the message's bytes
      SendRequest* original = nullptr;  ///< instead of a copy
    };
    void push(Message message);
    /// Whether another message of `bytes` bytes may leave its sender.
    bool has_room(Count bytes) const { return copied_ + bytes <= kMostCopied; }
    bool remove(const SendRequest& message);
    bool step() override;

   private:
    static constexpr Count kMostCopied = 1 << 20;
    Sink& sink_;
    std::deque<Message> messages_;
    Count copied_ = 0;  // bytes of the copies
    bool added_ = false;
  };

  Link& link(Route route);
  Traffic& traffic_of(Route route) { return traffic_[static_cast<std::size_t>(route.source)]; }

  const std::vector<Sink*> sinks_;
  std::vector<Traffic> traffic_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Link>> links_;  // by source and destination
};

}  // namespace clump::net
