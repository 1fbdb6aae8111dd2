// A number that a rank of another job has in this process (net/link/link_channel.h), kept.
#pragma once

#include <utility>

namespace clump::net {

class LinkChannel;

/// While it lives, a place is not another rank's, and the end of that rank's process without a word is a failure.
class HeldPlace {
 public:
  HeldPlace() = default;
  HeldPlace(HeldPlace&& other) noexcept { *this = std::move(other); }
  HeldPlace& operator=(HeldPlace&& other) noexcept;
  ~HeldPlace();
  /// False: it is no place, but a rank of this job.
  explicit operator bool() const { return channel_ != nullptr; }

 private:
  friend class LinkChannel;
  HeldPlace(LinkChannel& channel, int place) : channel_(&channel), place_(place) {}
  LinkChannel* channel_ = nullptr;
  int place_ = -1;
};

}  // namespace clump::net
