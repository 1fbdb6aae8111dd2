// Threads of a rank that run while another thread ends the rank. In a process they end at that moment, and
// see nothing of what comes after it. Here they wait for ever, at their next call with a descriptor: what
// they would read from, or write to, is closed.
#pragma once

#include <atomic>

namespace clump::image {

class Image;

namespace left_behind {

/// Whether a rank has ended that had other threads. Set once; relaxed: a thread that does not see it yet uses
/// a number that no other rank is given (owners::close_all()).
extern constinit std::atomic<bool> any;

/// The calling thread ends the rank: from now on its others are left behind. False if it has no others.
/// Async-signal-safe.
bool begin(Image& image);
/// Does not return to a thread that is left behind.
void stay();
inline void stay_if_left() {
  if (any.load(std::memory_order_relaxed)) [[unlikely]]
    stay();
}
/// The result of a call that may have waited while the rank ended.
template <typename T>
T unless_left(T result) {
  stay_if_left();
  return result;
}
/// The calling thread, the last one, acts for `image` at the end of the process.
void act_for(Image& image);

}  // namespace left_behind
}  // namespace clump::image
