#include "p2p/buffered.h"

#include <algorithm>
#include <cstdlib>
#include <new>

#include "datatype/fingerprint.h"

namespace clump::p2p {

void AttachedBuffer::Message::released() {
  const base::Ref<AttachedBuffer> buffer = std::move(owner);
  buffer->free(*this);
}

/// The bytes that the messages in the buffer take up. The caller holds the lock.
Count AttachedBuffer::used() const {
  Count sum = 0;
  for (const auto& [place, message] : messages_) sum += message.room;
  return sum;
}

/// The error for a message that the buffer has no room for. The caller holds the lock.
base::Status AttachedBuffer::no_room(Count bytes) const {
  return base::fail(MPI_ERR_BUFFER,
                    "the attached buffer has {} bytes, {} of them in use by {} messages; this message has {} "
                    "bytes: attach a larger buffer, with MPI_BSEND_OVERHEAD ({}) more for each message",
                    size_, used(), messages_.size(), bytes, MPI_BSEND_OVERHEAD);
}

base::Status AttachedBuffer::reserve(Count bytes, net::Route route, Messages::value_type*& message) {
  const std::lock_guard lock(mutex_);
  if (closed_) return base::fail(MPI_ERR_BUFFER, "the buffer was detached while this message was sent");
  // A message takes up its own bytes only, although users add MPI_BSEND_OVERHEAD to each (MPI-5.0 section
  // 3.6): its description is kept elsewhere. An empty message takes up one byte, because messages are
  // identified by their place.
  const Count room = std::max<Count>(bytes, 1);
  std::byte* place = memory_;
  if (allocates()) {
    CLUMP_TRY(allocate(room, bytes, place));
  } else {
    for (const auto& [start, other] : messages_) {
      if (start - place >= room) break;
      place = start + other.room;
    }
    if (memory_ + size_ - place < room) return no_room(bytes);
  }
  message = &*messages_.try_emplace(place, *this, room, next_number_++, route).first;
  return {};
}

base::Status AttachedBuffer::allocate(Count room, Count bytes, std::byte*& place) const {
  if (is_watched_ && !is_automatic() && size_ - used() < room) return no_room(bytes);
  place = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(room)));
  if (place == nullptr)
    return base::fail(MPI_ERR_NO_MEM, "there is no memory for a message of {} bytes", bytes);
  return {};
}

base::Status AttachedBuffer::look(const core::World& world) {
  const std::lock_guard lock(mutex_);
  if (!has_fingerprint_) return {};
  has_fingerprint_ = false;
  if (datatype::fingerprint(whole()) == fingerprint_) return {};
  return base::fail(
      MPI_ERR_BUFFER,
      "the attached buffer has changed while it was MPI's\n  it was given to {}{}\n  its {} bytes must "
      "not be written from the first buffered send on until it is detached",
      site_.call, world.at(site_), size_);
}

void AttachedBuffer::note_contents() {
  if (!is_watched_ || is_automatic()) return;
  const std::lock_guard lock(mutex_);
  if (has_fingerprint_) return;
  fingerprint_ = datatype::fingerprint(whole());
  has_fingerprint_ = true;
}

void AttachedBuffer::free(const Message& message) {
  std::vector<Flush*> complete;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(flushes_, [&](Flush* flush) {
      if (message.number >= flush->before_ || --flush->remaining_ > 0) return false;
      complete.push_back(flush);
      return true;
    });
    auto* const place = static_cast<std::byte*>(message.payload.base);
    messages_.erase(place);
    if (allocates()) std::free(place);
  }
  for (Flush* const flush : complete) flush->complete();
}

base::Status AttachedBuffer::send(const Address& to, const datatype::Layout& from) {
  const Count bytes = from.bytes();
  const net::Route route = route_of(to);
  Messages::value_type* reserved = nullptr;
  CLUMP_TRY(reserve(bytes, route, reserved));
  auto& [place, message] = *reserved;
  datatype::pack({place, static_cast<std::size_t>(bytes)}, from, 0);

  const MatchKey key = to.key();
  message.envelope = {key.context, to.comm.rank, key.tag};
  message.synchronous = true;  // the message may wait here, so the receiving side shall not copy it to
                               // another place to wait
  message.bytes = bytes;
  message.payload = {place, bytes, datatype::predefined(MPI_BYTE)};
  channel_to(to.comm.owner.world, route).send(route, message);
  return {};
}

void AttachedBuffer::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
}

void Flush::begin(base::Ref<AttachedBuffer> buffer) {
  if (!buffer) return complete();
  buffer_ = std::move(buffer);
  {
    const std::lock_guard lock(buffer_->mutex_);
    before_ = buffer_->next_number_;
    remaining_ = buffer_->messages_.size();
    if (remaining_ > 0) return buffer_->flushes_.push_back(this);
  }
  complete();
}

// A message may lie where only threads that work for its destination look, and they may be busy for long. So
// the waiting thread delivers the messages to those destinations itself.
void Flush::before_wait(WaitsFor /*what*/) {
  if (!buffer_) return;
  std::vector<net::Route> routes;
  {
    const std::lock_guard lock(buffer_->mutex_);
    for (const auto& [place, message] : buffer_->messages_) routes.push_back(message.route);
  }
  std::ranges::sort(routes, {}, &net::Route::destination);
  const auto same = [](const net::Route& a, const net::Route& b) { return a.destination == b.destination; };
  routes.erase(std::unique(routes.begin(), routes.end(), same), routes.end());
  const core::World& world = core::current_rank()->world;
  for (const net::Route& route : routes) channel_to(world, route).poll(route.destination);
}

void Flush::tell(std::vector<core::Awaited>& all) const {
  if (!buffer_) return;
  const std::lock_guard lock(buffer_->mutex_);
  for (const auto& [place, message] : buffer_->messages_)
    if (message.number < before_)
      all.push_back({.kind = core::Awaited::Kind::kSend,
                     .context = message.envelope.context(),
                     .world_peer = message.route.destination,
                     .tag = message.envelope.tag(),
                     .bytes = message.bytes});
}

namespace {

/// The buffer that a send uses: the communicator's own, otherwise its session's, otherwise the rank's
/// (MPI-5.0 section 3.6).
base::Ref<core::SendBuffer> buffer_for(const core::Comm& comm) {
  if (auto own = comm.send_buffer.get()) return own;
  if (const core::Origin origin = comm.group->origin(); origin != core::Origin::kWorld)
    if (core::Session* const session = comm.owner.session(origin))
      if (auto sessions = session->send_buffer.get()) return sessions;
  return comm.owner.send_buffer.get();
}

}  // namespace

base::Status buffered_send(const Address& to, const datatype::Layout& from) {
  if (to.peer == MPI_PROC_NULL) return {};
  const base::Ref<core::SendBuffer> buffer = buffer_for(to.comm);
  if (!buffer)
    return base::fail(
        MPI_ERR_BUFFER,
        "no buffer is attached: call MPI_Buffer_attach, or attach one to the communicator or session (with "
        "MPI_BUFFER_AUTOMATIC, if you like) before a buffered send");
  auto& attached = static_cast<AttachedBuffer&>(*buffer);
  attached.note_contents();
  if (try_send(to, from)) return {};
  return attached.send(to, from);
}

}  // namespace clump::p2p
