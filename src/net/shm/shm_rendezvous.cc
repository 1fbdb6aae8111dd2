#include "net/shm/shm_rendezvous.h"

#include <cstring>
#include <mutex>

#include "net/shm/shm_channel.h"

namespace clump::net {

namespace {

// Both sides of a large message move so much at a time: not less, because the kernel takes a microsecond to
// begin, and in so many parts, to end at about the same time.
constexpr Count kLeastPart = 32 * 1024;
constexpr Count kPartsOfTransfer = 8;
constexpr Count kPage = 4096;

}  // namespace

Division::Division(Count bytes) : bytes(bytes) {
  const Count least = std::min(kLeastPart, bytes / 2);  // so there are always two
  part = (std::max(least, bytes / kPartsOfTransfer) + kPage - 1) / kPage * kPage;
  parts = static_cast<std::uint32_t>((bytes + part - 1) / part);
}

ShmRendezvous::ShmRendezvous(ShmChannel& channel, int here, int there, Envelope its_envelope,
                             const RtsNote& rts)
    : IncomingRendezvous(its_envelope, rts.bytes, rts.streamed ? nullptr : rts.message),
      channel_(channel),
      here_(here),
      there_(there),
      streamed_(rts.streamed),
      address_(rts.address) {
  comes_unasked = streamed_;
}

void ShmRendezvous::send_fin() { channel_.post(here_, there_, PendingWrite::fin(original)); }

void ShmRendezvous::send_cancelled() { channel_.post(here_, there_, PendingWrite::cancelled(original)); }

/// All of it is on its way, or here.
void ShmRendezvous::take_stream() {
  std::unique_lock lock(mutex_);
  fetching_ = true;
  const Count here = std::min(arrived_, wanted());
  if (here > 0) datatype::unpack(to(), 0, {early_.get(), static_cast<std::size_t>(here)});
  if (arrived_ < bytes) return;
  lock.unlock();
  finish();
}

void ShmRendezvous::pull() {
  if (streamed_) return take_stream();
  const bool solid = address_ != nullptr;
  if (solid && to().type->is_dense() && wanted() >= Division::kFrom && channel_.shares() && fetch_together())
    return;
  if (wanted() == 0 || (solid && channel_.reads(wanted()) && channel_.read(there_, address_, wanted(), to())))
    return finish_with_fin();
  fetching_ = true;
  if (!solid) return channel_.post(here_, there_, PendingWrite::cts(cts()));
  // Once it is known to be asked for, another thread that finds no answer may end this.
  ShmChannel& channel = channel_;
  const int here = here_, there = there_;
  CtsNote note = cts();
  note.ticket = channel.ask(here, *this, ticket_);
  // Without a ticket only the sender could move it, when it next makes progress.
  if (note.ticket == 0 && channel.read(there, address_, wanted(), to())) return finish_with_fin();
  channel.post(here, there, PendingWrite::cts(note));
}

/// Asks for a message, and moves it together with its sender. False: nothing was done.
bool ShmRendezvous::fetch_together() {
  ticket_ = channel_.share(here_);
  if (ticket_ == 0) return false;
  fetching_ = true;
  at_work_ = kReceiver | kSender;
  channel_.post(here_, there_, PendingWrite::cts({original, this, wanted(), ticket_, to().base}));
  const bool complete = channel_.read_parts(here_, there_, ticket_, {address_, wanted(), to().base});
  // All parts were claimed, so this is how many the sender has.
  const bool alone = channel_.parts_of_sender(here_, there_, ticket_) == 0;
  channel_.end_sharing(here_, ticket_);
  ticket_ = 0;
  if (alone) end_parts(kSender, true);
  end_parts(kReceiver, complete);
  return true;
}

/// The side that ends last finishes the message; if a part could not be moved, it asks for pieces.
void ShmRendezvous::end_parts(Side side, bool complete) {
  {
    const std::lock_guard lock(mutex_);
    at_work_ &= ~static_cast<unsigned>(side);
    all_right_ = all_right_ && complete;
    if (at_work_ != 0) return;
  }
  if (!all_right_) {
    channel_.stop_sharing();
    return channel_.post(here_, there_, PendingWrite::cts(cts()));
  }
  finish_with_fin();
}

void ShmRendezvous::take_piece(const std::byte* data, Count more) {
  std::unique_lock lock(mutex_);
  if (arrived_ == 0 && ticket_ != 0) channel_.is_answered(here_, *this);
  if (!fetching_)
    keep(data, more);
  else if (const Count room = std::min(more, wanted() - arrived_); room > 0)
    datatype::unpack(to(), arrived_, {data, static_cast<std::size_t>(room)});
  arrived_ += more;
  const bool complete = fetching_ && arrived_ == (streamed_ ? bytes : wanted());
  lock.unlock();
  if (complete) finish();
}

void ShmRendezvous::keep(const std::byte* data, Count more) {
  if (early_ == nullptr)
    early_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  std::memcpy(early_.get() + arrived_, data, static_cast<std::size_t>(more));
}

bool ShmRendezvous::claim() { return channel_.claim(here_, ticket_); }

void ShmRendezvous::fetch_by_reading() {
  if (channel_.read(there_, address_, wanted(), to())) return finish_with_fin();
  channel_.post(here_, there_, PendingWrite::cts(cts()));
}

}  // namespace clump::net
