#include "malloc/young.h"

#include <mimalloc.h>
#include <sys/mman.h>

#include "malloc/kept.h"

namespace clump::young {
namespace {

constexpr std::size_t kChunk = std::size_t{128} << 10;

/// Pages of freed blocks go back to the kernel after so long, not after 25 ms: for blocks of 1 to 16 MiB that
/// come and go, whichever rank frees them, they would be taken anew each time. In milliseconds.
constexpr long kReturnPagesAfter = 1000;
#if MI_MALLOC_VERSION < 210
constexpr mi_option_t kDelay = mi_option_decommit_delay;
#else
constexpr mi_option_t kDelay = mi_option_purge_delay;
#endif

}  // namespace

constinit thread_local Chunk mine;
constinit std::uintptr_t begin = 0;
constinit std::size_t bytes = 0;

}  // namespace clump::young

constinit thread_local clump::kept::Blocks clump::kept::mine;

using namespace clump::young;

void clump_malloc_prepare(std::size_t ranks) {
  mi_option_set_default(kDelay, kReturnPagesAfter);  // unless the user has said so (MIMALLOC_...)
  clump::kept::mine.wanted = true;                   // the calling thread will be the first rank's
  const std::size_t all = ranks * kChunk;
  void* const room =
      mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return;  // then mimalloc has the first blocks, too
  madvise(room, all, MADV_NOHUGEPAGE);
  begin = reinterpret_cast<std::uintptr_t>(room);
  bytes = all;
}

void clump_malloc_end() {
  clump::kept::give_up();
  mi_collect(true);
  mi_thread_done();
}

void clump_malloc_begin(std::size_t rank) {
  clump::kept::mine.wanted = true;
  if ((rank + 1) * kChunk > bytes) return;
  mine = {reinterpret_cast<char*>(begin + rank * kChunk), kChunk};
}
