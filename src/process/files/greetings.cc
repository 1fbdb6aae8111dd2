#include "process/files/greetings.h"

#include <netinet/in.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/types.h"

namespace clump::image::greetings {

std::atomic<bool> in_use{false};

namespace {

struct Greeting {
  std::uint64_t mark = 0x31746e65706d6c63;  // "clmpent1"
  std::uint64_t token = 0;
  friend bool operator==(const Greeting&, const Greeting&) = default;
};

struct Expected {
  int listener;
  sockaddr_storage address;  // where it listens: its number may be another socket's later
  Greeting greeting;
  const Expected* next;
};

struct Given {
  sockaddr_storage address;
  Greeting greeting;
  const Given* next;
};

// Lists, the newest first, for as long as the process lives: it has few ports, and a process to which it
// connects is added once. They have no lock, because send() may be called in a signal handler and in a child
// of fork(). release: pairs with the acquire of those who look for an entry.
std::atomic<const Expected*> expected{nullptr};
std::atomic<const Given*> given{nullptr};

template <typename Entry>
void add(std::atomic<const Entry*>& list, Entry* entry) {
  entry->next = list.load(std::memory_order_relaxed);
  while (
      !list.compare_exchange_weak(entry->next, entry, std::memory_order_release, std::memory_order_relaxed))
    continue;
  in_use.store(true, std::memory_order_relaxed);
}

/// Null: there is none.
template <typename Entry, typename Fits>
const Entry* find(const std::atomic<const Entry*>& list, Fits fits) {
  const Entry* one = list.load(std::memory_order_acquire);
  while (one != nullptr && !fits(*one)) one = one->next;
  return one;
}

/// Whether they are the same address and port; the rest of what the kernel tells does not matter.
bool is_same(const sockaddr_storage& one, const sockaddr_storage& other) {
  if (one.ss_family != other.ss_family) return false;
  if (one.ss_family == AF_INET) {
    const auto& a = reinterpret_cast<const sockaddr_in&>(one);
    const auto& b = reinterpret_cast<const sockaddr_in&>(other);
    return a.sin_port == b.sin_port && a.sin_addr.s_addr == b.sin_addr.s_addr;
  }
  if (one.ss_family != AF_INET6) return false;
  const auto& a = reinterpret_cast<const sockaddr_in6&>(one);
  const auto& b = reinterpret_cast<const sockaddr_in6&>(other);
  return a.sin6_port == b.sin6_port && std::memcmp(&a.sin6_addr, &b.sin6_addr, sizeof a.sin6_addr) == 0;
}

/// Of this end of a socket.
sockaddr_storage address_of(int socket) {
  sockaddr_storage own{};
  socklen_t bytes = sizeof own;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &bytes);
  return own;
}

}  // namespace

void expect_at(int listener, std::uint64_t token) {
  add(expected, new Expected{listener, address_of(listener), {.token = token}, nullptr});
}

void give_at(const sockaddr* address, socklen_t bytes, std::uint64_t token) {
  auto* const one = new Given{.address = {}, .greeting = {.token = token}, .next = nullptr};
  std::memcpy(&one->address, address, std::min<std::size_t>(bytes, sizeof one->address));
  add(given, one);
}

// The kernel keeps connections to itself until something has come over them (net/ofi/strangers.h), and a
// process of the job sends greeting and request in one piece. If the greeting is not there, the process tries
// again.
int let_in(int listener, int made) {
  const Expected* const wanted =
      find(expected, [&](const Expected& one) { return one.listener == listener; });
  if (wanted == nullptr || !is_same(wanted->address, address_of(listener))) return made;
  Greeting greeting{.mark = 0};
  const auto came = syscall(SYS_recvfrom, made, &greeting, sizeof greeting, MSG_DONTWAIT, nullptr, nullptr);
  if (came == static_cast<long>(sizeof greeting) && greeting == wanted->greeting) return made;
  syscall(SYS_close, made);
  errno = EAGAIN;
  return -1;
}

bool send_with_greeting(int descriptor, const void* bytes, std::size_t count, int flags, ssize_t& sent) {
  sockaddr_storage other{};
  socklen_t length = sizeof other;
  const int error = errno;
  const bool is_connected = ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&other), &length) == 0;
  errno = error;
  const Given* const to =
      is_connected ? find(given, [&](const Given& one) { return is_same(one.address, other); }) : nullptr;
  if (to == nullptr) return false;
  Greeting greeting = to->greeting;
  iovec parts[] = {{&greeting, sizeof greeting}, {const_cast<void*>(bytes), count}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  sent = syscall(SYS_sendmsg, descriptor, &message, flags);
  // There is room for so little over a fresh connection. If there is not, the provider gives it up.
  if (sent >= 0) sent = std::max<ssize_t>(sent - static_cast<ssize_t>(sizeof greeting), 0);
  return true;
}

}  // namespace clump::image::greetings
