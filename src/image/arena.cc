#include "image/arena.h"
#include "image/fork_locks.h"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/why_refused.h"

namespace clump::image::arena {
namespace {

/// A range of address space with one owner pointer for each granule. Blocks are added, each twice as large as
/// the one before, and never removed.
struct Block {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  std::size_t used = 0;  // under `growing`
  std::atomic<Instance*>* owners = nullptr;
};

constexpr std::size_t kFirstBlock = std::size_t{4} << 30;
constexpr int kMaxBlocks = 32;

Block blocks[kMaxBlocks];
std::atomic<int> block_count{0};
constinit ForkMutex growing;

constexpr std::size_t round_up(std::size_t value, std::size_t to) { return (value + to - 1) / to * to; }

void* map_nothing(std::size_t bytes, int protection) {
  return mmap(nullptr, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

base::Status add_block(std::size_t at_least) {
  const int number = block_count.load(std::memory_order_relaxed);
  if (number == kMaxBlocks)
    return base::fail(MPI_ERR_NO_MEM, "no room for another copy: {} blocks of address space are full",
                      number);
  std::size_t bytes = std::max(kFirstBlock << number, std::bit_ceil(at_least));
  // If the address space is limited (ulimit -v), less is reserved, because the ranks need some for everything
  // else.
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    while (bytes > limit.rlim_cur / 8 && bytes / 2 >= at_least) bytes /= 2;
  void* begin = map_nothing(bytes, PROT_NONE);
  while (begin == MAP_FAILED && bytes / 2 >= at_least) {
    bytes /= 2;
    begin = map_nothing(bytes, PROT_NONE);
  }
  if (begin == MAP_FAILED) {
    return base::fail(MPI_ERR_NO_MEM,
                      "cannot reserve {} bytes of address space for a copy of the program: {}", at_least,
                      base::why_refused("mmap", errno));
  }
  void* owners = map_nothing(bytes / kGranule * sizeof(std::atomic<Instance*>), PROT_READ | PROT_WRITE);
  if (owners == MAP_FAILED) {
    munmap(begin, bytes);
    return base::fail(MPI_ERR_NO_MEM, "cannot map the table of copies: {}", base::why_refused("mmap", errno));
  }
  blocks[number] = {reinterpret_cast<std::uintptr_t>(begin), bytes, 0,
                    static_cast<std::atomic<Instance*>*>(owners)};
  block_count.store(number + 1, std::memory_order_release);  // release: pairs with acquire in block_of()
  return {};
}

const Block* block_of(std::uintptr_t address) {
  const int count =
      block_count.load(std::memory_order_acquire);  // acquire: pairs with release in add_block()
  for (int i = 0; i < count; ++i) {
    if (address - blocks[i].begin < blocks[i].bytes) return &blocks[i];
  }
  return nullptr;
}

void set_owner(const Block& block, std::uintptr_t address, std::size_t bytes, Instance* owner) {
  const std::size_t first = (address - block.begin) / kGranule;
  for (std::size_t i = 0; i < bytes / kGranule; ++i) {
    block.owners[first + i].store(owner,
                                  std::memory_order_release);  // release: pairs with acquire in owner_of()
  }
}

}  // namespace

base::Status reserve(Instance* owner, std::size_t bytes, std::size_t alignment, std::uintptr_t* address) {
  bytes = round_up(bytes, kGranule);
  alignment = std::max(alignment, kGranule);
  const std::scoped_lock lock(growing);
  while (true) {
    const int count = block_count.load(std::memory_order_relaxed);
    if (count > 0) {
      Block& block = blocks[count - 1];
      const std::uintptr_t begin = round_up(block.begin + block.used, alignment);
      if (begin + bytes <= block.begin + block.bytes) {
        block.used = begin + bytes - block.begin;
        set_owner(block, begin, bytes, owner);
        *address = begin;
        return {};
      }
    }
    CLUMP_TRY(add_block(bytes + alignment));
  }
}

void release(std::uintptr_t address, std::size_t bytes) {
  bytes = round_up(bytes, kGranule);
  if (const Block* block = block_of(address)) set_owner(*block, address, bytes, nullptr);
  // If it fails, the pages stay as they are, which only costs memory.
  static_cast<void>(mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

Instance* owner_of(const void* address) noexcept {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  const Block* block = block_of(where);
  if (block == nullptr) return nullptr;
  return block->owners[(where - block->begin) / kGranule].load(
      std::memory_order_acquire);  // acquire: pairs with set_owner()
}

}  // namespace clump::image::arena
