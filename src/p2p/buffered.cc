#include "p2p/buffered.h"

namespace clump::p2p {

/// A message in the buffer. It belongs to nobody but the channel until it is released.
class SendBuffer::Message final : public net::Outgoing {
 public:
  Message(SendBuffer& owner, Count offset) : owner_(owner), offset_(offset) {}
  void released() override {
    SendBuffer& owner = owner_;
    const Count offset = offset_;
    delete this;
    owner.free(offset);
  }

 private:
  ~Message() = default;
  SendBuffer& owner_;
  const Count offset_;
};

base::Status SendBuffer::reserve(Count bytes, Count& offset) {
  const Count needed = bytes + MPI_BSEND_OVERHEAD;  // as MPI-5.0 section 3.6 tells users to reckon
  const std::lock_guard lock(mutex_);
  Count end_of_previous = 0;
  Count used = 0;
  for (const auto& [start, length] : used_) {
    if (start - end_of_previous >= needed) break;
    end_of_previous = start + length;
    used += length;
  }
  if (size_ - end_of_previous < needed)
    return base::fail(MPI_ERR_BUFFER,
                      "the attached buffer has {} bytes, {} of them in use; this message needs {} bytes and "
                      "MPI_BSEND_OVERHEAD ({}): "
                      "attach a larger buffer",
                      size_, used, bytes, MPI_BSEND_OVERHEAD);
  used_.emplace(end_of_previous, needed);
  offset = end_of_previous;
  return {};
}

void SendBuffer::free(Count offset) {
  fiber::Completion* emptied = nullptr;
  {
    const std::lock_guard lock(mutex_);
    used_.erase(offset);
    if (used_.empty()) std::swap(emptied, emptied_);
  }
  if (emptied != nullptr) emptied->signal();
}

base::Status SendBuffer::send(const Address& to, const datatype::Layout& from) {
  const Count bytes = from.bytes();
  Count offset = 0;
  CLUMP_TRY(reserve(bytes, offset));
  std::byte* const copy = memory_ + offset;
  datatype::pack({copy, static_cast<std::size_t>(bytes)}, from, 0);

  const MatchKey key = to.key();
  auto* message = new Message(*this, offset);
  message->envelope = {key.context, to.comm.rank, key.tag};
  message->bytes = bytes;
  message->payload = {copy, bytes, datatype::predefined(MPI_BYTE)};
  const net::Route route{to.comm.owner.number, to.comm.peers().world_rank(to.peer)};
  to.comm.owner.world.routes[route.destination]->send(route, *message);
  return {};
}

void SendBuffer::flush() {
  fiber::Completion emptied;
  {
    const std::lock_guard lock(mutex_);
    if (used_.empty()) return;
    emptied_ = &emptied;
  }
  emptied.wait();
}

base::Status buffered_send(const Address& to, const datatype::Layout& from) {
  if (to.peer == MPI_PROC_NULL) return {};
  auto* buffer = static_cast<SendBuffer*>(to.comm.owner.buffered_sends.get());
  if (buffer == nullptr)
    return base::fail(MPI_ERR_BUFFER, "no buffer is attached: call MPI_Buffer_attach before a buffered send");
  return buffer->send(to, from);
}

}  // namespace clump::p2p
