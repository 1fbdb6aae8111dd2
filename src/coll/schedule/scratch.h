// Memory for intermediate results. A large block is kept for the next operation that needs as much: new
// memory from the kernel costs a page fault every 4 KB (experiment 081).
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
