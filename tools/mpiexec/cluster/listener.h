// How proxies on other hosts reach mpiexec. mpiexec listens on the addresses by which the job's hosts reach
// it, and on no other one. An environment variable tells proxies these addresses, the port, and the job's
// secret, which each connection begins with. A proxy connects to none of the addresses that its own host has,
// too: there a process of another user may listen, which would be told the secret.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// What a connection carries.
enum class Stream : std::int32_t {
  kControl,  ///< the plan, control messages and replies (control_server.h)
  kInput,    ///< standard input (hosts_input.h)
  kRecords,  ///< of calls (record_collector.h)
  kGdb,      ///< between gdb and gdbserver (gdb_hosts.h)
};
inline constexpr int kStreams = 4;

/// The first bytes of a connection.
struct Hello {
  char secret[32];
  std::int32_t host;
  Stream stream;
};

/// Where mpiexec listens.
struct ListenAddress {
  std::string secret;
  int port = 0;
  std::vector<std::string> addresses;  ///< numeric
  std::string network;                 ///< mpiexec's tools::own_network()

  /// The environment variable.
  static constexpr const char* kVariable = "CLUMP_CONTROL_SERVER";
  std::string text() const;
  /// Reads the variable; false if it is not there or has no such text.
  static bool read(ListenAddress& address);

  /// A proxy's side: connects as `host`. Errors say that mpiexec's host cannot be reached, and what `needs`
  /// that: "standard input needs".
  base::Status connect(Stream stream, int host, const char* needs, int& socket) const;
};

/// mpiexec's side.
class Listener {
 public:
  Listener() = default;
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Listens on these addresses of this host, all at one port, and sets the environment variable. Proxies are
  /// told only the addresses on which it does listen.
  base::Status open(const std::vector<std::string>& addresses);
  /// One for each address: readable when a connection waits.
  const std::vector<int>& sockets() const { return sockets_; }
  /// Whether the connection has told the secret. Takes the same time for every wrong one.
  bool knows(const Hello& hello) const;

 private:
  std::vector<int> sockets_;
  std::string secret_;
};

}  // namespace clump::mpiexec
