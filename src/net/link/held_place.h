// A number that a rank of another job has in this process (net/link/link_channel.h): its place, held, and the
// number alone, kept. Both belong to one thread at a time; any thread may end them.
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

/// While it lives, a number means the same rank of another job, even if that has left or its process has
/// ended: no other rank gets it, and the rank gets it again if it is connected again. The process may end at
/// any time.
class KeptNumber {
 public:
  KeptNumber() = default;
  KeptNumber(KeptNumber&& other) noexcept { *this = std::move(other); }
  KeptNumber& operator=(KeptNumber&& other) noexcept;
  ~KeptNumber();
  /// False: it is no number of a rank of another job.
  explicit operator bool() const { return channel_ != nullptr; }
  int number() const { return number_; }

 private:
  friend class LinkChannel;
  KeptNumber(LinkChannel& channel, int number) : channel_(&channel), number_(number) {}
  LinkChannel* channel_ = nullptr;
  int number_ = -1;
};

}  // namespace clump::net
