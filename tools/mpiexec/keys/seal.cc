#include "keys/seal.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

namespace clump::mpiexec {

namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kTagBytes = crypto_aead_chacha20poly1305_ietf_ABYTES;
static_assert(Seal::kAround == kLengthBytes + kTagBytes);
static_assert(sizeof(Seal::DirectionKey) == crypto_aead_chacha20poly1305_ietf_KEYBYTES);

using Nonce = std::array<unsigned char, crypto_aead_chacha20poly1305_ietf_NPUBBYTES>;

/// A connection ends long before 2^64 records.
Nonce nonce_of(std::uint64_t record) {
  Nonce nonce{};
  std::memcpy(nonce.data() + nonce.size() - sizeof record, &record, sizeof record);
  return nonce;
}

unsigned char* bytes_of(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }

}  // namespace

Seal::~Seal() {
  ::sodium_memzero(sends_.data(), sends_.size());
  ::sodium_memzero(receives_.data(), receives_.size());
}

std::string Seal::seal(std::string_view bytes) {
  std::string records;
  records.reserve(bytes.size() + (bytes.size() / kMost + 1) * kAround);
  while (!bytes.empty()) {
    const std::string_view part = bytes.substr(0, kMost);
    bytes.remove_prefix(part.size());
    const auto length = static_cast<std::uint32_t>(part.size());
    const std::size_t begin = records.size();
    records.resize(begin + part.size() + kAround);
    unsigned char* const record = bytes_of(records) + begin;
    std::memcpy(record, &length, kLengthBytes);
    ::crypto_aead_chacha20poly1305_ietf_encrypt(
        record + kLengthBytes, nullptr, reinterpret_cast<const unsigned char*>(part.data()), part.size(),
        record, kLengthBytes, nullptr, nonce_of(sent_++).data(), sends_.data());
  }
  return records;
}

bool Seal::open(std::string& came, std::string& bytes) {
  std::size_t at = 0;
  bool is_good = true;
  while (is_good && came.size() - at >= kLengthBytes) {
    std::uint32_t length = 0;
    std::memcpy(&length, came.data() + at, kLengthBytes);
    is_good = length > 0 && length <= kMost;
    if (!is_good || came.size() - at < length + kAround) break;
    const unsigned char* const record = bytes_of(came) + at;
    const std::size_t begin = bytes.size();
    bytes.resize(begin + length);
    is_good = ::crypto_aead_chacha20poly1305_ietf_decrypt(
                  bytes_of(bytes) + begin, nullptr, nullptr, record + kLengthBytes, length + kTagBytes,
                  record, kLengthBytes, nonce_of(received_).data(), receives_.data()) == 0;
    if (!is_good) bytes.resize(begin);
    ++received_;
    at += length + kAround;
  }
  came.erase(0, at);
  return is_good;
}

}  // namespace clump::mpiexec
