// Whether a process that takes no connection can be reached at all. Providers over sockets try to connect
// again and again, and report no error.
#pragma once

#include <cstdint>
#include <string>

#include "net/ofi/internet.h"

namespace clump::net::ofi {

/// A TCP connection to an address, made for the test alone: it carries no data. One thread at a time; no call
/// blocks.
class Probe {
 public:
  explicit Probe(const InternetAddress& address);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  enum class Answer : std::uint8_t {
    kNone,     ///< no answer yet
    kReached,  ///< the address can be reached
    kFailed,
  };
  Answer look();
  /// The system's text for the error.
  const std::string& error() const { return error_; }
  /// The host answers that no process listens there.
  bool is_refused() const { return is_refused_; }

 private:
  Answer fail(int error);

  int socket_ = -1;
  Answer answer_ = Answer::kNone;
  std::string error_;
  bool is_refused_ = false;
};

}  // namespace clump::net::ofi
