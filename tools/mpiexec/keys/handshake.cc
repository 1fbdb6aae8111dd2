#include "keys/handshake.h"

#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace clump::mpiexec {

namespace {

constexpr std::string_view kMagic = "clump-join 1";
constexpr std::string_view kOfMpiexec = "mpiexec", kOfProxy = "proxy", kWelcomeOfMpiexec = "welcome";
constexpr std::string_view kToMpiexec = "to mpiexec", kToProxy = "to proxy";
constexpr std::size_t kNumber = sizeof(std::uint32_t), kNonce = crypto_scalarmult_BYTES,
                      kTag = crypto_auth_hmacsha256_BYTES;
static_assert(Handshake::kHello == kMagic.size() + kNumber + kNonce);
static_assert(Handshake::kAnswer == kNonce + kTag && Handshake::kProof == kTag &&
              Handshake::kWelcome == kTag);
static_assert(crypto_scalarmult_SCALARBYTES == kNonce);

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string_view chars_of(const std::array<unsigned char, kNonce>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `purpose` has an end that is in no other purpose, so that two different inputs never look alike.
std::array<unsigned char, kTag> hmac(const Key& key, std::string_view purpose, std::string_view bytes) {
  crypto_auth_hmacsha256_state state;
  std::array<unsigned char, kTag> tag{};
  const unsigned char end = 0;
  ::crypto_auth_hmacsha256_init(&state, key.data(), Key::kBytes);
  ::crypto_auth_hmacsha256_update(&state, bytes_of(purpose), purpose.size());
  ::crypto_auth_hmacsha256_update(&state, &end, 1);
  ::crypto_auth_hmacsha256_update(&state, bytes_of(bytes), bytes.size());
  ::crypto_auth_hmacsha256_final(&state, tag.data());
  return tag;
}

}  // namespace

Handshake::Handshake(const Key& key, const std::vector<std::uint32_t>& hosts)
    : key_(key), expected_(&hosts), wanted_(kHello) {}

Handshake::Handshake(const Key& key, std::uint32_t host) : key_(key) {
  draw();
  hello_.append(kMagic);
  hello_.append(reinterpret_cast<const char*>(&host), sizeof host);
  hello_.append(chars_of(own_));
  out_ = hello_;
  wanted_ = kAnswer;
}

Handshake::~Handshake() { ::sodium_memzero(secret_.data(), secret_.size()); }

void Handshake::draw() {
  // Fails only where the system has no random numbers, and then the next line ends the process. Again and
  // again it is nothing.
  (void)!::sodium_init();
  ::randombytes_buf(secret_.data(), secret_.size());
  (void)!::crypto_scalarmult_base(own_.data(), secret_.data());
}

Handshake::State Handshake::transfer(int socket) {
  for (char bytes[kAnswer];;) {
    // It is short, and the connection is new: there is room for it, or the other side is not one of ours.
    const std::string out = take_output();
    const ssize_t sent =
        out.empty() ? 0 : ::send(socket, out.data(), out.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent != static_cast<ssize_t>(out.size())) return errno = EPIPE, State::kClosed;
    if (is_done_) return State::kDone;
    const ssize_t got = ::recv(socket, bytes, wanted_ - came_.size(), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return State::kWaits;
    if (got == 0) errno = 0;
    if (got <= 0) return State::kClosed;
    came_.append(bytes, static_cast<std::size_t>(got));
    if (came_.size() == wanted_ && !take(std::exchange(came_, {}))) return State::kWrong;
  }
}

std::string Handshake::take_output() { return std::exchange(out_, {}); }

std::uint32_t Handshake::host() const {
  std::uint32_t number = 0;
  if (hello_.size() == kHello) std::memcpy(&number, hello_.data() + kMagic.size(), sizeof number);
  return number;
}

std::string Handshake::transcript() const {
  return hello_ + std::string(chars_of(expected_ != nullptr ? own_ : other_));
}

std::string Handshake::proof_of(std::string_view purpose) const {
  return std::string(chars_of(hmac(key_, purpose, transcript())));
}

bool Handshake::take(std::string_view bytes) {
  if (wanted_ == 0 || bytes.size() != std::exchange(wanted_, 0)) return false;
  if (expected_ == nullptr) return bytes.size() == kAnswer ? take_answer(bytes) : take_welcome(bytes);
  const bool is_right = bytes.size() == kHello ? take_hello(bytes) : take_proof(bytes);
  return is_right && std::ranges::find(*expected_, host()) != expected_->end();
}

bool Handshake::take_hello(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return false;
  hello_ = bytes;
  std::memcpy(other_.data(), bytes.data() + kMagic.size() + kNumber, kNonce);
  draw();
  out_ = std::string(chars_of(own_)) + proof_of(kOfMpiexec);
  wanted_ = kProof;
  return true;
}

bool Handshake::take_answer(std::string_view bytes) {
  std::memcpy(other_.data(), bytes.data(), kNonce);
  const std::string proof = proof_of(kOfMpiexec);
  if (::sodium_memcmp(proof.data(), bytes.data() + kNonce, kTag) != 0) return false;
  out_ = proof_of(kOfProxy);
  wanted_ = kWelcome;
  return true;
}

bool Handshake::take_proof(std::string_view bytes) {
  const std::string proof = proof_of(kOfProxy);
  is_done_ = ::sodium_memcmp(proof.data(), bytes.data(), kTag) == 0;
  if (is_done_) out_ = proof_of(kWelcomeOfMpiexec);
  return is_done_;
}

bool Handshake::take_welcome(std::string_view bytes) {
  const std::string welcome = proof_of(kWelcomeOfMpiexec);
  return is_done_ = ::sodium_memcmp(welcome.data(), bytes.data(), kTag) == 0;
}

Seal Handshake::seal() const {
  Nonce agreed{};
  // Of a number that both know to be the other's it does not fail.
  (void)!::crypto_scalarmult(agreed.data(), secret_.data(), other_.data());
  std::string all = transcript() + std::string(chars_of(agreed));
  const Seal::DirectionKey to_mpiexec = hmac(key_, kToMpiexec, all), to_proxy = hmac(key_, kToProxy, all);
  wipe(all);
  ::sodium_memzero(agreed.data(), agreed.size());
  return expected_ != nullptr ? Seal(to_proxy, to_mpiexec) : Seal(to_mpiexec, to_proxy);
}

}  // namespace clump::mpiexec
