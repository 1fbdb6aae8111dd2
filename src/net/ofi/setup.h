// What the ofi channel needs to know about the job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "net/channel.h"

namespace clump::net::ofi {

/// The variable that sets Setup::provider where the job names none.
inline constexpr const char* kProviderVariable = "CLUMP_OFI_PROVIDER";
/// The variable that sets Setup::connect_timeout, in seconds.
inline constexpr const char* kConnectTimeoutVariable = "CLUMP_CONNECT_TIMEOUT";

struct Setup {
  std::vector<Sink*> sinks;       ///< of each rank of the job; null: it is in another process
  std::vector<int> processes;     ///< of each rank: its host process, by its number in the job
  int process = 0;                ///< the number of this one
  std::string provider;           ///< libfabric's name of it; empty: the fastest that there is
  std::string interface_address;  ///< numeric; empty: libfabric's choice
  /// Finds the address that another process has published, and leaves `address` empty while it has not. Must
  /// not wait: it is called with a lock held, by any thread that sends to that process, until it is found.
  std::function<base::Status(int process, std::vector<std::byte>& address)> find;
  /// Reports that a process cannot be reached any more. Called once for each process, by any thread that
  /// holds no lock.
  std::function<void(int process, std::string what)> lost;
  /// With providers over sockets: how long to try to reach a process, and how long to wait for
  /// acknowledgements of what was sent to it. Other providers report errors by themselves.
  std::chrono::seconds connect_timeout{8};
  /// Has libfabric call the C library's functions and not the program's of the same name; gets an address
  /// inside of it. Empty: ld.so's binding stays.
  std::function<void(const void* inside)> keep_calls;
  /// With libfabric's tcp: has connections that `listener` accepts begin with a greeting, which has the
  /// token, or be closed. Empty: nothing does.
  std::function<void(int listener, std::uint64_t token)> expect_greetings;
  /// The other side of it: connections to this address, which another process has published, begin so.
  std::function<void(std::span<const std::byte> address, std::uint64_t token)> give_greetings;
  int endpoints = 1;  ///< so many threads can drive the network at the same time
};

}  // namespace clump::net::ofi
