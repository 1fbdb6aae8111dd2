// By which addresses one host of a job reaches another one. Two hosts may have one address in
// common, that of a bridge for containers: on each of them it leads to that host itself, where a process of
// another user may listen.
#pragma once

#include <chrono>
#include <string>
#include <vector>

namespace clump::tools {

/// Names the network of this process. Processes that have the same addresses, because they are in one network
/// namespace of one kernel, get the same name; all others get another one. "unknown" if the kernel does not
/// tell.
std::string own_network();

/// What a host knows of itself.
struct Self {
  std::string network;                 ///< own_network()
  std::vector<std::string> addresses;  ///< own_addresses()
  std::string ssh_connection;          ///< what sshd says, "CLIENT PORT SERVER PORT"; empty: nothing
};
Self know_self();

/// Those of `addresses` by which `self` reaches the host that has them, whose network is `network`. All of
/// them if that is the network of `self`. Otherwise an address that `self` has, too, is left out, and only
/// the one from which sshd was called is left if it is among them.
std::vector<std::string> ways_back(const Self& self, std::vector<std::string> addresses,
                                   const std::string& network);

/// connect_to_any() for ways_back() of this host.
int connect_back(const std::vector<std::string>& addresses, const std::string& network, int port,
                 std::chrono::milliseconds patience, std::string& why);

}  // namespace clump::tools
