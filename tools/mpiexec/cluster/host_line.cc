#include "cluster/host_line.h"

#include <utility>

namespace clump::mpiexec {

bool HostLine::take(const Frame& frame, const std::function<bool(std::string_view)>& message) {
  if (frame.channel != Channel::kControl) return channels_.take(frame);
  switch (frame.kind) {
    case Frame::Kind::kData:
      return message(frame.bytes);
    case Frame::Kind::kGreeting: {
      const std::size_t blank = frame.bytes.find(' ');
      if (is_first() || has_greeted_ || blank == frame.bytes.npos) return false;
      version_ = frame.bytes.substr(0, blank);
      path_ = frame.bytes.substr(blank + 1);
      return has_greeted_ = true;
    }
    case Frame::Kind::kLost:
      if (is_first()) return false;
      lost_ = frame.bytes;
      return true;
    default:
      return frame.kind == Frame::Kind::kPing;
  }
}

void HostLine::send(std::string_view message) {
  line_.stream().send({number_, Channel::kControl, Frame::Kind::kData, message});
  line_.stream().flush();
}

bool HostLine::take_greeting() {
  if (is_first() && line_.take_greeting()) {
    has_greeted_ = true;
    version_ = line_.stream().version();
    path_ = line_.stream().path();
  }
  return has_greeted_ && !std::exchange(is_there_, has_greeted_);
}

void HostLine::close() {
  for (const Channel channel : {Channel::kInput, Channel::kRecords, Channel::kGdb}) channels_.close(channel);
  line_.stream().send({number_, Channel::kControl, Frame::Kind::kClose, {}});
  line_.stream().flush();
}

}  // namespace clump::mpiexec
