// Endpoint names that are addresses of the Internet, as providers over sockets have them.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <span>
#include <string>

namespace clump::net::ofi {

/// A sockaddr, copied so that it is aligned.
class InternetAddress {
 public:
  InternetAddress() = default;
  /// Not valid if the bytes are no address of the Internet.
  explicit InternetAddress(std::span<const std::byte> name);
  /// The address of the peer, or of this end, of a connected socket. Not valid if the descriptor is none.
  static InternetAddress of_peer(int descriptor);
  static InternetAddress of_self(int descriptor);

  bool valid() const { return storage_.ss_family != AF_UNSPEC; }
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }
  int port() const;
  bool is_same_host(const InternetAddress& other) const;
  bool operator==(const InternetAddress& other) const {
    return is_same_host(other) && port() == other.port();
  }
  /// The address in words: "10.77.0.2 port 34567".
  std::string text() const;

 private:
  std::span<const std::byte> number() const;

  sockaddr_storage storage_{};  // AF_UNSPEC: not valid
  socklen_t length_ = 0;
};

}  // namespace clump::net::ofi
