// Memory for intermediate results. What is large is kept for the next operation that wants as much: memory
// that is new from the kernel costs a page fault every 4 KB, and for data that comes through the kernel these
// were a tenth of a large allreduce's time.
#pragma once

#include <cstddef>
#include <memory>

namespace clump::coll {

inline constexpr std::size_t kScratchAlignment = 64;

struct GiveBackScratch {
  std::size_t bytes;
  void operator()(std::byte* memory) const noexcept;
};
using Scratch = std::unique_ptr<std::byte[], GiveBackScratch>;

/// So many bytes, or a few more, not zeroed; null if there is no memory. Any thread may take and give back.
Scratch take_scratch(std::size_t bytes);

}  // namespace clump::coll
