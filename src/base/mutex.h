// A mutex for short critical sections that two cores may want at the same time.
#pragma once

#include <pthread.h>

namespace clump::base {

/// Spins for as long as such a section takes, then sleeps as any mutex does (std::mutex sleeps at once, which
/// costs microseconds).
class AdaptiveMutex {
 public:
  AdaptiveMutex() = default;
  AdaptiveMutex(const AdaptiveMutex&) = delete;
  AdaptiveMutex& operator=(const AdaptiveMutex&) = delete;
  ~AdaptiveMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() { pthread_mutex_lock(&mutex_); }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

}  // namespace clump::base
