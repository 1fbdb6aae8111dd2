// Numbers that nobody can guess: tokens, and what must differ from all that others draw.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace clump::base {

inline std::uint64_t random_number() {
  std::uint64_t number = 0;
  while (::getrandom(&number, sizeof number, 0) != sizeof number) {
  }
  return number;
}

}  // namespace clump::base
