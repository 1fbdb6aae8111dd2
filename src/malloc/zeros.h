// calloc() of large blocks. mimalloc would write zeros over memory that is fresh from the kernel, too, and so
// take pages that are not needed yet.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace clump::zeros {

/// Of `count` whole pages: writes zeros over those that are there; for the others the kernel gives zeros when
/// they are touched. It takes back nothing that is there, which would interrupt all cores on which the
/// process computes, for they may still have the page in their TLB.
inline void fill_pages(char* first, std::size_t count, std::size_t page) {
  constexpr std::size_t kAtOnce = 1024;
  unsigned char present[kAtOnce];
  for (std::size_t begin = 0; begin < count; begin += kAtOnce) {
    char* const pages = first + begin * page;
    const std::size_t some = count - begin < kAtOnce ? count - begin : kAtOnce;
    if (mincore(pages, some * page, present) != 0) {
      std::memset(pages, 0, some * page);
      continue;
    }
    for (std::size_t i = 0, end; i < some; i = end) {
      const auto is_there = [&](std::size_t one) { return (present[one] & 1U) != 0; };
      for (end = i + 1; end < some && is_there(end) == is_there(i);) ++end;
      char* const run = pages + i * page;
      const std::size_t bytes = (end - i) * page;
      // A page that is not there may have been swapped out: so it is given up.
      if (is_there(i) || madvise(run, bytes, MADV_DONTNEED) != 0) std::memset(run, 0, bytes);
    }
  }
}

/// Makes a block of at least a page one of zeros. Keeps no errno.
inline void fill(void* block, std::size_t bytes) {
  const auto page = static_cast<std::size_t>(getpagesize());
  char* const begin = static_cast<char*>(block);
  char* const first = begin + (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  const std::size_t pages = (bytes - static_cast<std::size_t>(first - begin)) / page;
  char* const last = first + pages * page;
  std::memset(begin, 0, static_cast<std::size_t>(first - begin));
  fill_pages(first, pages, page);
  std::memset(last, 0, static_cast<std::size_t>(begin + bytes - last));
}

}  // namespace clump::zeros
