// Calls that no thread is cancelled in, though what they are made of waits.
#pragma once

#include <pthread.h>

namespace clump::image {

/// While one lives, the calling thread is not cancelled. For functions that are no cancellation points with
/// the C library alone.
class NoCancel {
 public:
  NoCancel() { ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~NoCancel() { ::pthread_setcancelstate(before_, nullptr); }
  NoCancel(const NoCancel&) = delete;
  NoCancel& operator=(const NoCancel&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

}  // namespace clump::image
