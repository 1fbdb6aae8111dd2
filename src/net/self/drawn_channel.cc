#include "net/self/drawn_channel.h"

#include <algorithm>
#include <utility>

namespace clump::net {

namespace exploration = fiber::exploration;

void DrawnChannel::Link::push(Message message) {
  copied_ += static_cast<Count>(message.copy.size());
  messages_.push_back(std::move(message));
  if (!std::exchange(added_, true)) exploration::add(*this);
}

bool DrawnChannel::Link::remove(const SendRequest& message) {
  return std::erase_if(messages_, [&](const Message& one) { return one.original == &message; }) != 0;
}

/// Delivers one message, if there is one that was not retracted.
bool DrawnChannel::Link::step() {
  if (!messages_.empty()) {
    const Message message = std::move(messages_.front());
    messages_.pop_front();
    const auto bytes = static_cast<Count>(message.copy.size());
    copied_ -= bytes;
    const Holding holding;
    if (message.original == nullptr)
      sink_.take(message.envelope, bytes,
                 {const_cast<std::byte*>(message.copy.data()), bytes, datatype::predefined(MPI_BYTE)},
                 Sink::Bound::kIgnore);
    else if (sink_.arrive(*message.original))
      sink_.move(*message.original);  // the sender may be gone afterwards
  }
  return added_ = !messages_.empty();
}

DrawnChannel::Link& DrawnChannel::link(Route route) {
  const std::uint64_t pair = std::uint64_t{static_cast<std::uint32_t>(route.source)} << 32 |
                             static_cast<std::uint32_t>(route.destination);
  std::unique_ptr<Link>& known = links_[pair];
  if (known == nullptr) known = std::make_unique<Link>(*sinks_[static_cast<std::size_t>(route.destination)]);
  return *known;
}

bool DrawnChannel::try_send(Route route, Envelope envelope, Count bytes, const datatype::Layout& payload) {
  Link& way = link(route);
  if (!way.has_room(bytes) || !exploration::sends_early()) return false;
  Link::Message message{.envelope = envelope,
                        .copy = std::vector<std::byte>(static_cast<std::size_t>(bytes))};
  datatype::pack(message.copy, payload, 0);
  way.push(std::move(message));
  traffic_of(route)[Way::kLane].add(bytes);
  return true;
}

void DrawnChannel::send(Route route, SendRequest& message) {
  message.synchronous = true;  // whether it is copied was decided before: it is not
  traffic_of(route)[Way::kReference].add(message.bytes);
  link(route).push({.envelope = message.envelope, .copy = {}, .original = &message});
}

bool DrawnChannel::retract(Route route, SendRequest& message) {
  return link(route).remove(message) || sinks_[static_cast<std::size_t>(route.destination)]->retract(message);
}

}  // namespace clump::net
