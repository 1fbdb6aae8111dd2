// What the ofi channel has to know of the job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "net/channel.h"

namespace clump::net::ofi {

/// Seconds, of Setup::connect_timeout.
inline constexpr const char* kConnectTimeoutVariable = "CLUMP_CONNECT_TIMEOUT";

struct Setup {
  std::vector<Sink*> sinks;       ///< of each rank of the job; null: it is not of this process
  std::vector<int> processes;     ///< of each rank: its host process, numbered through the job
  int process = 0;                ///< this one
  std::string provider;           ///< by libfabric's name; empty: the fastest that there is
  std::string interface_address;  ///< numeric; empty: libfabric's choice
  /// The address that another process has published. May block for milliseconds. Called once for each
  /// process, by any thread, when something is to be sent to it first.
  std::function<base::Status(int process, std::vector<std::byte>& address)> find;
  /// A process cannot be reached any more. Called once for each, by any thread, which holds nothing.
  std::function<void(int process, std::string what)> lost;
  /// How long to try to reach a process, and to wait for acknowledgements of what was sent to it, with
  /// providers over sockets. Others tell by themselves.
  std::chrono::seconds connect_timeout{8};
  int endpoints = 1;  ///< several: as many threads can drive the network at the same time
};

}  // namespace clump::net::ofi
