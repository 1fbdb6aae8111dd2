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

  bool try_send(const Route& route, const Envelope& envelope, const datatype::Layout& payload) override {
    return sinks_[route.destination]->take(envelope, payload, Sink::Bound::kRespect);
  }
  void send(const Route& route, Outgoing& message) override {
    Sink& sink = *sinks_[route.destination];
    if (sink.arrive(message)) sink.move(message);
  }
  bool retract(const Route& route, Outgoing& message) override {
    return sinks_[route.destination]->retract(message);
  }
  void poll(int) override {}

 private:
  std::vector<Sink*> sinks_;
};

}  // namespace clump::net
