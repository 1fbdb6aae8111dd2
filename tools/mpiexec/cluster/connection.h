// Messages over a socket between mpiexec and a proxy, in both directions; nothing blocks.
#pragma once

#include <string>
#include <string_view>

#include "common/poll_set.h"

namespace clump::mpiexec {

class Connection {
 public:
  /// Closes `socket` in the end; -1: there is none.
  explicit Connection(int socket = -1) : socket_(socket) {}
  Connection(Connection&& other) noexcept;
  Connection& operator=(Connection&& other) noexcept;
  ~Connection();

  bool is_open() const { return socket_ >= 0; }
  void add_to(tools::PollSet& all) const;
  void send(std::string_view message);
  /// Moves what can be moved now; closes at the other side's end. receive() must follow.
  void transfer();
  /// The next message that has come as a whole; false if there is none.
  bool receive(std::string& message);
  int descriptor() const { return socket_; }
  /// The socket is the caller's from now on.
  int release();

 private:
  void flush();
  void close();

  int socket_ = -1;
  std::string in_, out_;
};

}  // namespace clump::mpiexec
