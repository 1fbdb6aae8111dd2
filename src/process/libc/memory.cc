// calloc() of ranks that share an address space: docs/decisions/025-fresh-memory.md.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>

#include "base/free_memory.h"
#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

/// The least size of a block that is treated here. Smaller blocks come from memory that is used again and
/// again.
constexpr std::size_t kWorthTheCall = std::size_t{128} << 10;
/// While the kernel makes pages it holds the lock of the address space: a rank that maps or unmaps memory
/// waits for it. So a large block is made in pieces of so many bytes:
/// docs/experiments/101-calloc-in-pieces.md.
constexpr std::size_t kPiece = std::size_t{2} << 20;

/// Makes the pages of a new block at once. Otherwise a page that is read before it is written is at first the
/// kernel's page of zeros; when it is written, all cores that run ranks have to drop that mapping, which
/// takes 7 to 15 times as long as in a process of its own. For a rank with several cores nothing is done:
/// there each page shall be placed near the thread that first accesses it.
void make_pages(void* block, std::size_t bytes) {
  static constinit base::MemoryBudget budget;
  if (!captured() || current_image().state().core_count != 1) return;
  const int error = errno;
  const auto page = static_cast<std::uintptr_t>(getpagesize()),
             begin = reinterpret_cast<std::uintptr_t>(block);
  const std::uintptr_t first = begin / page * page, end = begin + bytes;
  // If it fails (Linux before 5.14, no memory), pages are made when they are accessed.
  if (budget.take(end - first))
    for (std::uintptr_t at = first; at < end; at += kPiece)
      if (madvise(reinterpret_cast<void*>(at), std::min(kPiece, end - at), MADV_POPULATE_WRITE) != 0) break;
  errno = error;
}

}  // namespace
}  // namespace clump::image

extern "C" CLUMP_HOST_API void* calloc(size_t count, size_t size) noexcept {
  static constinit clump::image::Hidden<void*(size_t, size_t)> real{"calloc"};
  void* const block = real(count, size);
  if (block != nullptr && count * size >= clump::image::kWorthTheCall) [[unlikely]]
    clump::image::make_pages(block, count * size);
  return block;
}
