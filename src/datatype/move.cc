#include "datatype/move.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace clump::datatype {

#if defined(__x86_64__)

namespace {

constexpr std::intptr_t kVector = 32, kStep = 4 * kVector;

[[gnu::target("avx2")]] __m256i load(std::intptr_t from) {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

[[gnu::target("avx2")]] void move_vectors(std::intptr_t to, std::intptr_t from, Count bytes) {
  const __m256i first = load(from), last = load(from + bytes - kVector);
  const std::intptr_t first_to = to, last_to = to + bytes - kVector;
  // Stores that do not cross lines; the two that may are made last.
  const std::intptr_t skew = -to & (kVector - 1);
  to += skew;
  from += skew;
  for (; to + kStep <= last_to + kVector; to += kStep, from += kStep) {
    const __m256i a = load(from), b = load(from + kVector), c = load(from + 2 * kVector),
                  d = load(from + 3 * kVector);
    auto* const out = reinterpret_cast<__m256i*>(to);
    _mm256_store_si256(out, a);
    _mm256_store_si256(out + 1, b);
    _mm256_store_si256(out + 2, c);
    _mm256_store_si256(out + 3, d);
  }
  for (; to < last_to; to += kVector, from += kVector)
    _mm256_store_si256(reinterpret_cast<__m256i*>(to), load(from));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(first_to), first);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(last_to), last);
}

bool has_vectors() {
  static const bool has = __builtin_cpu_supports("avx2") != 0;
  return has;
}

}  // namespace

#endif

void move_long(std::intptr_t to, std::intptr_t from, Count bytes) {
#if defined(__x86_64__)
  if (has_vectors()) return move_vectors(to, from, bytes);
#endif
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
              static_cast<std::size_t>(bytes));
}

}  // namespace clump::datatype
