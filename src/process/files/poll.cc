// Waiting for descriptors: 0, 1 and 2 are the calling rank's (standard.h). A call that names none of them, or
// only some that have the same number for the kernel, goes to the kernel unchanged. Handlers may call these
// functions: no memory comes from malloc().
#undef _FORTIFY_SOURCE
#include <fmt/format.h>
#include <poll.h>
#include <sys/select.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <ctime>
#include <span>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/mapped.h"
#include "process/refusal.h"
#include "process/signals/waits.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

using left_behind::unless_left;

int real_poll(pollfd* all, nfds_t count, const timespec* time, const sigset_t* mask) {
  static constinit Hidden<int(pollfd*, nfds_t, const timespec*, const sigset_t*)> real{"ppoll"};
  return unless_left(real(all, count, time, mask));
}

bool is_other(int descriptor) { return standard::kernel_number(descriptor) != descriptor; }

/// poll() for a list in which some descriptors have another number for the kernel.
int poll_others(pollfd* all, nfds_t count, const timespec* time, const sigset_t* mask) {
  CallArray<pollfd> room(count);
  pollfd* const real = room.data();
  if (real == nullptr) return -1;
  int closed = 0;
  for (nfds_t i = 0; i < count; ++i) {
    real[i] = all[i];
    real[i].fd = standard::kernel_number(all[i].fd);
    closed += static_cast<int>(all[i].fd >= 0 && real[i].fd < 0);
  }
  constexpr timespec kNoTime{0, 0};
  const int ready = real_poll(real, count, closed > 0 ? &kNoTime : time, mask);
  if (ready < 0) return ready;
  for (nfds_t i = 0; i < count; ++i) {
    const bool is_closed = all[i].fd >= 0 && real[i].fd < 0;
    all[i].revents = is_closed ? static_cast<short>(POLLNVAL) : real[i].revents;
  }
  return ready + closed;
}

bool any_other(const pollfd* all, nfds_t count) {
  return captured() && std::any_of(all, all + count, [](const pollfd& one) { return is_other(one.fd); });
}

bool any_other(int count, const fd_set* const (&sets)[3]) {
  if (!captured()) return false;
  for (int number = 0; number <= 2 && number < count; ++number) {
    for (const fd_set* set : sets)
      if (set != nullptr && FD_ISSET(number, set) && is_other(number)) return true;
  }
  return false;
}

constexpr short kAsks[] = {POLLIN, POLLOUT, POLLPRI};
constexpr short kAnswers[] = {POLLIN | POLLHUP | POLLERR, POLLOUT | POLLERR, POLLPRI};

/// Ends the job if the kernel's number does not fit into a set of the usual size, which ends below
/// FD_SETSIZE: the process's descriptors have higher numbers than those of a process with one rank.
void check_number(const char* call, long number, long highest, const void* caller) {
  if (number <= highest || !captured() || image_at(caller) == nullptr) return;
  refuse(fmt::format("{}({})", call, number),
         fmt::format("needs numbers below {} (FD_SETSIZE) for descriptors of the process", FD_SETSIZE));
}

int select_by_poll(int count, fd_set* const (&sets)[3], const timespec* time, const sigset_t* mask) {
  CallArray<pollfd> room(static_cast<std::size_t>(count));
  if (room.data() == nullptr) return -1;
  std::size_t names = 0;
  for (int number = 0; number < count; ++number) {
    short events = 0;
    for (int i = 0; i < 3; ++i)
      if (sets[i] != nullptr && FD_ISSET(number, sets[i])) events |= kAsks[i];
    if (events != 0) room.data()[names++] = {number, events, 0};
  }
  const int ready = poll_others(room.data(), names, time, mask);
  if (ready < 0) return ready;
  const std::span<const pollfd> asked(room.data(), names);
  for (const pollfd& one : asked) {
    if ((one.revents & POLLNVAL) != 0) {
      errno = EBADF;
      return -1;
    }
  }
  int bits = 0;
  for (const pollfd& one : asked) {
    for (int i = 0; i < 3; ++i) {
      if ((one.events & kAsks[i]) == 0) continue;
      if ((one.revents & kAnswers[i]) != 0)
        ++bits;
      else
        FD_CLR(one.fd, sets[i]);
    }
  }
  return bits;
}

timespec since(const timespec& begin) {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  timespec passed{now.tv_sec - begin.tv_sec, now.tv_nsec - begin.tv_nsec};
  if (passed.tv_nsec < 0) passed = {passed.tv_sec - 1, passed.tv_nsec + 1'000'000'000};
  return passed;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// The headers say that the array is only written to, which is true only of the results in it.
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

CLUMP_HOST_API int poll(pollfd* all, nfds_t count, int milliseconds) {
  static constinit Hidden<int(pollfd*, nfds_t, int)> real{"poll"};
  if (!any_other(all, count)) return unless_left(real(all, count, milliseconds));
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1'000'000L};
  return poll_others(all, count, milliseconds < 0 ? nullptr : &time, nullptr);
}

CLUMP_HOST_API int __poll_chk(pollfd* all, nfds_t count, int milliseconds, size_t) {
  return poll(all, count, milliseconds);
}

CLUMP_HOST_API int ppoll(pollfd* all, nfds_t count, const timespec* time, const sigset_t* mask) {
  return signals::with_mask(mask, [&](const sigset_t* kernels) {
    return any_other(all, count) ? poll_others(all, count, time, kernels)
                                 : real_poll(all, count, time, kernels);
  });
}

CLUMP_HOST_API int __ppoll_chk(pollfd* all, nfds_t count, const timespec* time, const sigset_t* mask,
                               size_t) {
  return ppoll(all, count, time, mask);
}

CLUMP_HOST_API int pselect(int count, fd_set* reads, fd_set* writes, fd_set* others, const timespec* time,
                           const sigset_t* mask) {
  static constinit Hidden<int(int, fd_set*, fd_set*, fd_set*, const timespec*, const sigset_t*)> real{
      "pselect"};
  check_number("pselect", count, FD_SETSIZE, __builtin_return_address(0));
  return signals::with_mask(mask, [&](const sigset_t* kernels) {
    return any_other(count, {reads, writes, others})
               ? select_by_poll(count, {reads, writes, others}, time, kernels)
               : unless_left(real(count, reads, writes, others, time, kernels));
  });
}

CLUMP_HOST_API int select(int count, fd_set* reads, fd_set* writes, fd_set* others, timeval* time) {
  static constinit Hidden<int(int, fd_set*, fd_set*, fd_set*, timeval*)> real{"select"};
  check_number("select", count, FD_SETSIZE, __builtin_return_address(0));
  if (!any_other(count, {reads, writes, others}))
    return unless_left(real(count, reads, writes, others, time));
  if (time == nullptr) return select_by_poll(count, {reads, writes, others}, nullptr, nullptr);
  // The C library carries over, too.
  const timespec limit{time->tv_sec + time->tv_usec / 1'000'000, time->tv_usec % 1'000'000 * 1000L};
  timespec begin{};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  const int ready = select_by_poll(count, {reads, writes, others}, &limit, nullptr);
  // Linux writes the remaining time back.
  const timespec passed = since(begin);
  long left = (limit.tv_sec - passed.tv_sec) * 1'000'000 + (limit.tv_nsec - passed.tv_nsec) / 1000;
  left = std::max(left, 0L);
  *time = {left / 1'000'000, left % 1'000'000};
  return ready;
}

/// FD_SET() and the related macros call this with -D_FORTIFY_SOURCE.
CLUMP_HOST_API long __fdelt_chk(long descriptor) {
  static constinit Hidden<long(long)> real{"__fdelt_chk"};
  check_number("FD_SET", descriptor, FD_SETSIZE - 1, __builtin_return_address(0));
  return real(descriptor);
}

}  // extern "C"
