// How mpiexec and a proxy prove to each other, over a new connection, that both know the job's key, without
// telling it. Each draws a nonce, and answers with an HMAC-SHA-256 of both nonces, the host's number and its
// own role. The nonces are public keys of X25519 at the same time: the keys of the connection come from the
// job's key and from what the two agree on, so that an attacker who learns the job's key later cannot read
// what was recorded.
//
//   proxy:   "clump-join 1", host, nonce                    48 bytes
//   mpiexec: nonce, HMAC(key, "mpiexec", all of the above)  64 bytes
//   proxy:   HMAC(key, "proxy", the same)                   32 bytes
//   mpiexec: HMAC(key, "welcome", the same)                 32 bytes, then records (seal.h)
//
// The last message tells the proxy that it is admitted: mpiexec drops connections while many wait.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "keys/key.h"
#include "keys/seal.h"

namespace clump::mpiexec {

/// One side of one connection, without the connection. Of one thread.
class Handshake {
 public:
  static constexpr std::size_t kHello = 48, kAnswer = 64, kProof = 32, kWelcome = 32;

  /// The proxy of a host.
  Handshake(const Key& key, std::uint32_t host);
  /// mpiexec, for the proxy of one of these hosts. The list may become shorter meanwhile.
  Handshake(const Key& key, const std::vector<std::uint32_t>& hosts);
  Handshake(Handshake&&) = default;
  Handshake& operator=(Handshake&&) = default;
  ~Handshake();

  enum class State : std::uint8_t {
    kWaits,   ///< for the other side
    kDone,    ///< the other side knows the key, and mpiexec has admitted the proxy
    kWrong,   ///< the other side does not know the key, or speaks something else
    kClosed,  ///< so is the connection; errno: EPIPE at a word of this side, 0 by the other side, or why
  };
  /// Moves what can be moved now over a non-blocking socket. Reads no byte more than the handshake wants.
  State transfer(int socket);

  /// What is to be sent now. Once.
  std::string take_output();
  /// So many bytes are to come next, and no more are to be read from the connection; 0: it is done, or has
  /// failed.
  std::size_t wanted() const { return wanted_; }
  /// Takes exactly those. False: the other side does not know the key, or speaks something else.
  bool take(std::string_view bytes);
  /// The other side knows the key, and mpiexec has admitted the proxy.
  bool is_done() const { return is_done_; }
  /// mpiexec's side: what the other side says, which is proved only when the handshake is done.
  std::uint32_t host() const;
  /// When it is done.
  Seal seal() const;

 private:
  using Nonce = std::array<unsigned char, 32>;
  bool take_hello(std::string_view bytes);
  bool take_answer(std::string_view bytes);
  bool take_proof(std::string_view bytes);
  bool take_welcome(std::string_view bytes);
  std::string transcript() const;
  /// An HMAC of what both have sent.
  std::string proof_of(std::string_view purpose) const;
  void draw();

  Key key_;
  const std::vector<std::uint32_t>* expected_ = nullptr;  ///< mpiexec's; null: this is the proxy's side
  std::string hello_;                                     ///< as it is sent
  Nonce secret_{}, own_{}, other_{};
  std::string out_, came_;
  std::size_t wanted_ = 0;
  bool is_done_ = false;
};

}  // namespace clump::mpiexec
