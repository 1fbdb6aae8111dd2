// The time zone of the calling rank: libc_zone.cc.
#pragma once

#include <mutex>

namespace clump::image {

/// While one lives, the C library's zone is that of the calling rank, and no other thread changes it. Waits
/// for others that have one. Nothing that switches fibers may be called.
class WithZoneOfRank {
 public:
  WithZoneOfRank();
  ~WithZoneOfRank();
  WithZoneOfRank(const WithZoneOfRank&) = delete;
  WithZoneOfRank& operator=(const WithZoneOfRank&) = delete;

  /// What tzset() does: the rank's `tzname`, `timezone` and `daylight` are set.
  void read_zone();

 private:
  bool locked_ = false;
  char** before_ = nullptr;  ///< the first rank's environment, while another one is in its place
};

}  // namespace clump::image
