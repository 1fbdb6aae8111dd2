#include "host/unlisted_timers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <ctime>

namespace clump::host {

namespace {

/// So many new numbers are looked at; a program that has made more timers since the last look is not
/// followed.
constexpr int kMostNew = 1 << 16;

bool is_there(int timer) {
  itimerspec now{};
  return ::syscall(SYS_timer_gettime, timer, &now) == 0;
}

}  // namespace

bool is_set(int timer) {
  itimerspec now{};
  return ::syscall(SYS_timer_gettime, timer, &now) == 0 &&
         (now.it_value.tv_sec != 0 || now.it_value.tv_nsec != 0);
}

/// False: there may be some that are not found.
bool UnlistedTimers::find_new_ones() {
  sigevent nothing{};
  nothing.sigev_notify = SIGEV_NONE;
  int behind = -1;  // the number of a timer that is newer than all others
  if (::syscall(SYS_timer_create, CLOCK_MONOTONIC, &nothing, &behind) != 0) return false;
  ::syscall(SYS_timer_delete, behind);
  if (behind < next_ || behind - next_ > kMostNew) return false;
  for (; next_ < behind; ++next_)
    if (is_there(next_)) there_.push_back(next_);
  ++next_;
  return true;
}

bool UnlistedTimers::any_is_set() {
  if (!find_new_ones()) return true;
  std::erase_if(there_, [](int timer) { return !is_there(timer); });
  return std::ranges::any_of(there_, is_set);
}

}  // namespace clump::host
