// SipHash-2-4 (Aumasson and Bernstein, INDOCRYPT 2012) of a message of whole words: a number that cannot be
// said without the key. It makes names that other users see, and are not to foresee, and proofs.
#pragma once

#include <bit>
#include <cstdint>
#include <span>

namespace clump::base {

struct HashKey {
  std::uint64_t low = 0, high = 0;
};

constexpr std::uint64_t keyed_hash(const HashKey& key, std::span<const std::uint64_t> message) {
  std::uint64_t v0 = key.low ^ 0x736f6d6570736575, v1 = key.high ^ 0x646f72616e646f6d;
  std::uint64_t v2 = key.low ^ 0x6c7967656e657261, v3 = key.high ^ 0x7465646279746573;
  const auto rounds = [&](int count) {
    for (; count > 0; --count) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  };
  const auto take = [&](std::uint64_t block) {
    v3 ^= block;
    rounds(2);
    v0 ^= block;
  };
  for (const std::uint64_t word : message) take(word);
  take(std::uint64_t{message.size_bytes()} << 56);  // no bytes are left; the length modulo 256
  v2 ^= 0xff;
  rounds(4);
  return v0 ^ v1 ^ v2 ^ v3;
}

constexpr std::uint64_t keyed_hash(const HashKey& key, std::uint64_t message) {
  return keyed_hash(key, std::span<const std::uint64_t>(&message, 1));
}

}  // namespace clump::base
