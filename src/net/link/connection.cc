#include "net/link/connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace clump::net::link {

namespace {

// So much of a long message is packed at a time.
constexpr Count kPiece = 128 * 1024;
// So many system calls follow each other before other connections have a turn.
constexpr int kRounds = 8;
// In place only what is worth a system call of its own.
constexpr std::size_t kWorthPlacing = 16 * 1024;

}  // namespace

PendingFrame PendingFrame::copied(const Frame& frame, const datatype::Layout& payload, Count bytes) {
  PendingFrame made;
  made.bytes_.resize(sizeof frame + static_cast<std::size_t>(bytes));
  std::memcpy(made.bytes_.data(), &frame, sizeof frame);
  if (bytes > 0) datatype::pack(std::span(made.bytes_).subspan(sizeof frame), payload, 0);
  made.held_ = made.bytes_.size();
  return made;
}

PendingFrame PendingFrame::streamed(SendRequest& message, const Frame& asked) {
  PendingFrame made;
  made.message_ = &message;
  made.number_ = asked.message;
  made.rendezvous_ = asked.rendezvous;
  made.wanted_ = asked.bytes;  // more than 0; a piece is packed when it can be written
  return made;
}

void PendingFrame::next_piece() {
  const Count now = std::min(kPiece, wanted_ - sent_);
  const Frame frame{.kind = Kind::kData, .bytes = now, .rendezvous = rendezvous_};
  bytes_.resize(sizeof frame + static_cast<std::size_t>(now));
  std::memcpy(bytes_.data(), &frame, sizeof frame);
  datatype::pack(std::span(bytes_).subspan(sizeof frame), message_->payload, sent_);
  sent_ += now;
  written_ = 0;
}

int PendingFrame::write(int socket) {
  for (;;) {
    while (written_ < bytes_.size()) {
      const ssize_t count =
          ::send(socket, bytes_.data() + written_, bytes_.size() - written_, MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) {
        written_ += static_cast<std::size_t>(count);
      } else if (count < 0 && errno == EINTR) {
        continue;
      } else {
        return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
      }
    }
    if (message_ == nullptr || sent_ == wanted_) return 1;
    next_piece();
  }
}

bool Incoming::read(int socket, std::span<std::byte> buffer, Taker& taker) {
  for (int round = 0; round < kRounds; ++round) {
    std::span<std::byte> place;
    if (left_ > 0 && frame_.kind == Kind::kData) {
      place = taker.place_for(frame_);
      place = place.first(std::min(place.size(), static_cast<std::size_t>(left_)));
    }
    const bool in_place = place.size() >= kWorthPlacing;
    if (!in_place) place = buffer;
    ssize_t count;
    do count = ::recv(socket, place.data(), place.size(), MSG_DONTWAIT);
    while (count < 0 && errno == EINTR);
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (count == 0) return false;
    const auto got = static_cast<std::size_t>(count);
    if (in_place) {
      left_ -= count;
      if (!taker.take_data(frame_, {}, got)) return false;
      if (left_ == 0) frame_bytes_ = 0;
    } else if (!consume(place.first(got), taker)) {
      return false;
    }
    if (got < place.size()) return true;
  }
  return true;
}

bool Incoming::begin_frame(Taker& taker) {
  if (!taker.may_begin(frame_)) return false;
  left_ = frame_.kind == Kind::kEager || frame_.kind == Kind::kData || frame_.kind == Kind::kHello ||
                  frame_.kind == Kind::kRefused
              ? frame_.bytes
              : 0;
  body_.clear();
  return true;
}

bool Incoming::consume(std::span<const std::byte> bytes, Taker& taker) {
  while (!bytes.empty()) {
    if (frame_bytes_ < sizeof frame_) {
      const std::size_t now = std::min(bytes.size(), sizeof frame_ - frame_bytes_);
      std::memcpy(reinterpret_cast<std::byte*>(&frame_) + frame_bytes_, bytes.data(), now);
      frame_bytes_ += now;
      bytes = bytes.subspan(now);
      if (frame_bytes_ < sizeof frame_) return true;
      if (!begin_frame(taker)) return false;
    }
    const std::span<const std::byte> now =
        bytes.first(std::min(bytes.size(), static_cast<std::size_t>(left_)));
    bytes = bytes.subspan(now.size());
    left_ -= static_cast<Count>(now.size());
    if (frame_.kind == Kind::kData) {
      if (!now.empty() && !taker.take_data(frame_, now, 0)) return false;
    } else if (body_.empty() && left_ == 0) {
      if (!taker.take(frame_, now)) return false;
    } else {
      body_.insert(body_.end(), now.begin(), now.end());
      if (left_ == 0 && !taker.take(frame_, body_)) return false;
    }
    if (left_ == 0) frame_bytes_ = 0;
  }
  return true;
}

}  // namespace clump::net::link
