#include "common/ways.h"

#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "common/reach.h"

namespace clump::tools {

namespace {

constexpr const char* kUnknownNetwork = "unknown";

bool has(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

std::string own_network() {
  std::string boot;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  struct stat info {};
  if (boot.empty() || ::stat("/proc/self/ns/net", &info) != 0) return kUnknownNetwork;
  return fmt::format("{}.{}", boot, info.st_ino);
}

Self know_self() {
  const char* const ssh = std::getenv("SSH_CONNECTION");
  return {own_network(), own_addresses(), ssh != nullptr ? ssh : ""};
}

std::vector<std::string> ways_back(const Self& self, std::vector<std::string> addresses,
                                   const std::string& network) {
  if (network == self.network && network != kUnknownNetwork) return addresses;
  std::erase_if(addresses,
                [&](const std::string& one) { return is_loopback(one) || has(self.addresses, one); });
  std::istringstream in(self.ssh_connection);
  std::string client, client_port, server;
  // The variable may have come from another host: an agent in ssh's place may pass on its environment.
  if (in >> client >> client_port >> server && has(self.addresses, server) && has(addresses, client))
    return {client};
  return addresses;
}

int connect_back(const std::vector<std::string>& addresses, const std::string& network, int port,
                 std::chrono::milliseconds patience, std::string& why) {
  const std::vector<std::string> ways = ways_back(know_self(), addresses, network);
  if (!ways.empty()) return connect_to_any(ways, port, patience, why);
  why = fmt::format("{} port {}: this host has the same address itself", fmt::join(addresses, ", "), port);
  return -1;
}

}  // namespace clump::tools
