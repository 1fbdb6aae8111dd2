// The innermost loops of copying. Addresses are integers, because with MPI_BOTTOM they are made from a null
// pointer.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/types.h"

namespace clump::datatype {

/// Block i lies at base + i * stride.
struct Steps {
  std::intptr_t base;
  Count stride;
  std::intptr_t operator()(Count i) const { return base + i * stride; }
};

/// Block i lies at base + offsets[i].
struct Places {
  std::intptr_t base;
  const Count* offsets;
  std::intptr_t operator()(Count i) const { return base + offsets[i]; }
};

/// memcpy of at least 64 bytes. From 4 KB the C library's may use an instruction (rep movsb) that takes ten
/// times as long on some processors (seen on an AMD EPYC) where `to` lies a little behind `from` within their
/// pages (docs/experiments/027): a loop of our own does not.
void move_long(std::intptr_t to, std::intptr_t from, Count bytes);
inline constexpr Count kLong = 256;

inline void move(std::intptr_t to, std::intptr_t from, Count bytes) {
  if (bytes >= kLong) return move_long(to, from, bytes);
  std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from),
              static_cast<std::size_t>(bytes));
}

// Two copies of kBytes, which overlap unless there are 2 * kBytes.
template <Count kBytes>
void move_ends(std::intptr_t to, std::intptr_t from, Count bytes) {
  char first[kBytes], last[kBytes];
  std::memcpy(first, reinterpret_cast<const void*>(from), kBytes);
  std::memcpy(last, reinterpret_cast<const void*>(from + bytes - kBytes), kBytes);
  std::memcpy(reinterpret_cast<void*>(to), first, kBytes);
  std::memcpy(reinterpret_cast<void*>(to + bytes - kBytes), last, kBytes);
}

/// For blocks that are probably short: a call of memcpy would take longer than the copying.
[[gnu::always_inline]] inline void move_short(std::intptr_t to, std::intptr_t from, Count bytes) {
  if (bytes > 64) return move(to, from, bytes);
  if (bytes > 32) return move_ends<32>(to, from, bytes);
  if (bytes >= 16) return move_ends<16>(to, from, bytes);
  if (bytes >= 8) return move_ends<8>(to, from, bytes);
  if (bytes >= 4) return move_ends<4>(to, from, bytes);
  for (Count i = 0; i < bytes; ++i) move(to + i, from + i, 1);
}

/// Block i lies at base + i * kBytes.
template <Count kBytes>
struct Dense {
  std::intptr_t base;
  std::intptr_t operator()(Count i) const { return base + i * kBytes; }
};

template <Count kBytes>
bool is_dense(const Steps& steps) {
  return steps.stride == kBytes;
}
template <Count kBytes, typename Blocks>
bool is_dense(const Blocks&) {
  return false;
}

template <Count kBytes, typename To, typename From>
void move_equal(To to, From from, Count count) {
  if (is_dense<kBytes>(to)) {
    const Dense<kBytes> dense{to.base};
    for (Count i = 0; i < count; ++i) move(dense(i), from(i), kBytes);
  } else if (is_dense<kBytes>(from)) {
    const Dense<kBytes> dense{from.base};
    for (Count i = 0; i < count; ++i) move(to(i), dense(i), kBytes);
  } else {
    for (Count i = 0; i < count; ++i) move(to(i), from(i), kBytes);
  }
}

/// `count` blocks of `block` bytes. The sizes that basic types, pairs of them and small vectors have are
/// loops without calls.
template <typename To, typename From>
void move_blocks(To to, From from, Count block, Count count) {
  switch (block) {
    case 1:
      return move_equal<1>(to, from, count);
    case 2:
      return move_equal<2>(to, from, count);
    case 4:
      return move_equal<4>(to, from, count);
    case 8:
      return move_equal<8>(to, from, count);
    case 12:
      return move_equal<12>(to, from, count);
    case 16:
      return move_equal<16>(to, from, count);
    case 24:
      return move_equal<24>(to, from, count);
    case 32:
      return move_equal<32>(to, from, count);
    default:
      for (Count i = 0; i < count; ++i) move_short(to(i), from(i), block);
  }
}

}  // namespace clump::datatype
