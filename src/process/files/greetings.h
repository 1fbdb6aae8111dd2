// Greetings: the first bytes over a connection to the network port of a process of this job. libfabric's tcp
// makes and accepts these connections, lets in every process that connects, and trusts what comes. So Clump's
// accept() and send(), to which libfabric's calls are bound (image/own_calls.h), put a greeting before the
// request for a connection, and close an accepted connection that does not begin with it: no byte of a
// stranger reaches libfabric. The greeting has the token of the process that is greeted, which the launcher
// has told to the job's processes only.
//
// Any thread. The connections of the program go through the same functions, and are left alone.
#pragma once

#include <sys/socket.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace clump::image::greetings {

/// From now on connections that `listener` accepts have to begin with this process's greeting.
void expect_at(int listener, std::uint64_t token);
/// From now on requests for a connection to `address` get the greeting of the process there.
void give_at(const sockaddr* address, socklen_t bytes, std::uint64_t token);
// For accept() and send().

/// Whether there are any. relaxed: nothing else is told by it.
extern std::atomic<bool> in_use;

/// What accept() returns of a connection that it has accepted: `made`, or -1 with EAGAIN, if it is a
/// stranger's.
int let_in(int listener, int made);
/// Whether these may be libfabric's request for a connection: a short header in which 20 bytes are unused.
/// Everything else that libfabric sends has its length there.
inline bool may_be_request(const void* bytes, std::size_t count) {
  constexpr std::size_t kLeast = 32, kMost = 64, kUnused = 4;
  static constexpr char kZeros[20] = {};
  return count >= kLeast && count <= kMost &&
         std::memcmp(static_cast<const char*>(bytes) + kUnused, kZeros, sizeof kZeros) == 0;
}
/// Sends a request with a greeting before it, if it goes to an address for which there is one. False: it does
/// not, and nothing has happened. `sent` is what send() returns for the request.
bool send_with_greeting(int descriptor, const void* bytes, std::size_t count, int flags, ssize_t& sent);

}  // namespace clump::image::greetings
