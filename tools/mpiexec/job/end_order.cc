#include "job/end_order.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace clump::mpiexec {

void EndOrder::add(pid_t child) {
  if (queue_ < 0) queue_ = ::epoll_create1(EPOLL_CLOEXEC);
  const auto descriptor = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.fd = descriptor}};
  if (descriptor < 0) return;
  if (::epoll_ctl(queue_, EPOLL_CTL_ADD, descriptor, &event) == 0)
    entries_.push_back({child, descriptor});
  else
    ::close(descriptor);
}

pid_t EndOrder::next() {
  epoll_event event{};
  if (queue_ < 0 || ::epoll_wait(queue_, &event, 1, 0) <= 0) return -1;
  const auto entry = std::ranges::find(entries_, event.data.fd, &Entry::descriptor);
  const pid_t child = entry->child;
  ::close(entry->descriptor);
  entries_.erase(entry);
  return child;
}

bool EndOrder::knows(pid_t child) const {
  return std::ranges::find(entries_, child, &Entry::child) != entries_.end();
}

}  // namespace clump::mpiexec
