// The `self` channel: to ranks in the same address space. A message is moved by letting the destination's
// Sink see it where it lies.
#pragma once

#include <vector>

#include "net/channel.h"

namespace clump::net {

class SelfChannel final : public Channel {
 public:
  /// `sinks[rank]` is the sink of that rank of the job; null where the rank is not of this host process. They
  /// outlive the channel.
  explicit SelfChannel(std::vector<Sink*> sinks) : sinks_(std::move(sinks)) {}

  void send(int destination, Outgoing& message) override { sinks_[destination]->arrive(message); }
  bool retract(int destination, Outgoing& message) override { return sinks_[destination]->retract(message); }

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace clump::net
