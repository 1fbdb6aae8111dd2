// Whether a process that takes no connection can be reached at all. Providers over sockets try again and
// again without a word.
#pragma once

#include <cstdint>
#include <string>

#include "net/ofi/internet.h"

namespace clump::net::ofi {

/// A TCP connection of its own to an address, which carries nothing. One thread at a time; no call blocks.
class Probe {
 public:
  explicit Probe(const InternetAddress& address);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  enum class Answer : std::uint8_t {
    kNone,     ///< not yet
    kReached,  ///< there is a way to it
    kFailed,
  };
  Answer look();
  /// The system's word for what has failed.
  const std::string& error() const { return error_; }

 private:
  Answer fail(int error);

  int socket_ = -1;
  Answer answer_ = Answer::kNone;
  std::string error_;
};

}  // namespace clump::net::ofi
