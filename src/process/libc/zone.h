// The time zone of the calling rank: libc/zone.cc.
#pragma once

#include <mutex>

namespace clump::image {

/// While one lives, the C library's zone is that of the calling rank, and no other thread changes it. Waits
/// for other threads that have one. Meanwhile nothing may be called that switches fibers.
class WithZoneOfRank {
 public:
  WithZoneOfRank();
  ~WithZoneOfRank();
  WithZoneOfRank(const WithZoneOfRank&) = delete;
  WithZoneOfRank& operator=(const WithZoneOfRank&) = delete;

  /// Does what tzset() does: sets the rank's `tzname`, `timezone` and `daylight`.
  void read_zone();

 private:
  bool locked_ = false;
  char** before_ = nullptr;  ///< the first rank's environment, while another one is in its place
};

}  // namespace clump::image
