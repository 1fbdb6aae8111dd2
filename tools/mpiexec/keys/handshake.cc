#include "keys/handshake.h"

#include <sodium.h>

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

Handshake::Handshake(const Key& key, Role role, std::uint32_t host) : key_(key), role_(role) {
  // Fails only where the system has no random numbers, and then draw() ends the process. Again and again it
  // is nothing.
  (void)!::sodium_init();
  wanted_ = kHello;
  if (role == Role::kMpiexec) return;
  draw();
  hello_.append(kMagic);
  hello_.append(reinterpret_cast<const char*>(&host), sizeof host);
  hello_.append(chars_of(own_));
  out_ = hello_;
  wanted_ = kAnswer;
}

Handshake::~Handshake() { ::sodium_memzero(secret_.data(), secret_.size()); }

void Handshake::draw() {
  ::randombytes_buf(secret_.data(), secret_.size());
  (void)!::crypto_scalarmult_base(own_.data(), secret_.data());
}

std::string Handshake::take_output() { return std::exchange(out_, {}); }

std::uint32_t Handshake::host() const {
  std::uint32_t number = 0;
  if (hello_.size() == kHello) std::memcpy(&number, hello_.data() + kMagic.size(), sizeof number);
  return number;
}

std::string Handshake::transcript() const {
  return hello_ + std::string(chars_of(role_ == Role::kMpiexec ? own_ : other_));
}

std::string Handshake::proof_of(std::string_view purpose) const {
  return std::string(chars_of(hmac(key_, purpose, transcript())));
}

bool Handshake::take(std::string_view bytes) {
  if (wanted_ == 0 || bytes.size() != std::exchange(wanted_, 0)) return false;
  if (role_ == Role::kProxy) return bytes.size() == kAnswer ? take_answer(bytes) : take_welcome(bytes);
  return bytes.size() == kHello ? take_hello(bytes) : take_proof(bytes);
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
  return role_ == Role::kMpiexec ? Seal(to_proxy, to_mpiexec) : Seal(to_mpiexec, to_proxy);
}

}  // namespace clump::mpiexec
