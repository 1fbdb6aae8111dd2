// Names that all jobs of one user on this machine know (MPI_Publish_name). Each name is a socket in the
// abstract namespace. The process that has published it listens there, and sends the value to each process of
// the same user that connects. No server has to be started, a name can be taken once, and it ends with its
// process.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace clump::net::link {

/// What the link's thread watches by epoll.
class Watched {
 public:
  /// False: there was no descriptor. Nothing is watched for it until the thread has called again, after a
  /// moment.
  virtual bool is_ready(std::uint32_t events) = 0;

 protected:
  ~Watched() = default;
};

/// Opened and closed by any thread; it lives as long as the link's thread, which answers.
class PublicName final : public Watched {
 public:
  /// Lets the thread that waits at `events` (epoll) answer. False with errno: EADDRINUSE if another process
  /// has published the name.
  bool open(std::string_view name, std::string_view value, int events);
  void close();
  /// Whether it is open, for this name.
  bool has(std::string_view name) const;
  bool is_free() const;

 private:
  bool is_ready(std::uint32_t events) override;
  bool watch(int operation, std::uint32_t wanted);

  mutable std::mutex mutex_;
  int socket_ = -1, events_ = -1;
  bool is_paused_ = false;  // there was no descriptor
  std::string name_, answer_;
};

/// The value of a name that any job of this user has published. Empty: none has; `holder`: another user who
/// has taken the name, in words (holder_of()), or nothing. May sleep.
std::string find_public_name(std::string_view name, std::string& holder);
/// Of a name that open() has found taken (EADDRINUSE): holder_of().
std::string holder_of_public_name(std::string_view name);

}  // namespace clump::net::link
