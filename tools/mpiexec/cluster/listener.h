// How proxies find mpiexec on another host: it listens, and a variable of their environment says where, and
// by which word it knows its own.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.h"

namespace clump::mpiexec {

/// What a proxy says first.
struct Hello {
  char word[32];
  std::int32_t host;
};

/// mpiexec's side.
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Listens, and sets the environment variable. Errors say what it is `for_what`.
  base::Status open(const char* variable, const char* for_what);
  /// Readable when somebody comes.
  int descriptor() const { return socket_; }
  /// Whoever has come; -1: nobody.
  int accept() const;
  bool knows(const Hello& hello) const;

 private:
  int socket_ = -1;
  std::string word_;
};

/// A proxy's: connects, and says hello as `host`. Takes the variable out of the environment.
base::Status connect_to_listener(const char* variable, const char* for_what, int host, int& socket);

}  // namespace clump::mpiexec
