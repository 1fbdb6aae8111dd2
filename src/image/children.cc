#include "image/children.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "image/rank_image.h"

namespace clump::image {
namespace {

constexpr int kBlock = 250;

/// Entries are never moved, so that a signal handler may look at them at any moment.
struct Block {
  Child children[kBlock];
  std::atomic<Block*> next{nullptr};
};

constinit Block first_block;

/// Children that were waited for last. A signal of theirs may be on its way still.
struct Past {
  std::atomic<pid_t> process{0};
  std::atomic<fiber::Identity*> owner{nullptr};
};
constexpr unsigned kMostPast = 256;
constinit Past past[kMostPast];
constinit std::atomic<unsigned> past_count{0};

void remember(pid_t process, fiber::Identity* owner) noexcept {
  // relaxed, and release: a reader of an entry that is being written finds no process in it
  Past& place = past[past_count.fetch_add(1, std::memory_order_relaxed) % kMostPast];
  place.process.store(0, std::memory_order_relaxed);
  place.owner.store(owner, std::memory_order_release);
  place.process.store(process, std::memory_order_release);
}

/// Owns what no rank may wait for.
constinit fiber::Identity nobody;

constexpr pid_t kBeingWritten = -1;

/// The block after `block`, made if there is none; null if there is no memory. malloc() is not for signal
/// handlers.
Block* block_after(Block& block) noexcept {
  // acquire: pairs with the release of whoever has made it
  if (Block* const known = block.next.load(std::memory_order_acquire)) return known;
  void* const memory =
      ::mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Block* const made = new (memory) Block;
  Block* other = nullptr;
  // release: pairs with the acquire above and in next_entry()
  if (block.next.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
  ::munmap(memory, sizeof(Block));
  return other;
}

void note(pid_t process, fiber::Identity* owner) noexcept {
  if (process <= 0) return;
  const int error = errno;
  for (Block* block = &first_block; block != nullptr; block = block_after(*block)) {
    for (Child& child : block->children) {
      pid_t free = 0;
      // relaxed: the entry is this thread's from here on, and nobody reads the rest of it yet
      if (!child.process.compare_exchange_strong(free, kBeingWritten, std::memory_order_relaxed)) continue;
      child.owner.store(owner, std::memory_order_relaxed);
      child.told.store(false, std::memory_order_relaxed);
      child.process.store(process, std::memory_order_release);  // release: pairs with acquire in process_of()
      errno = error;
      return;
    }
  }
  errno = error;
}

/// acquire: pairs with the release in note(), so that the owner is seen.
pid_t process_of(const Child& child) noexcept { return child.process.load(std::memory_order_acquire); }

/// The first entry in use, from `block` and `index` on, that `is_wanted` accepts.
template <typename IsWanted>
Child* search(Block* block, int index, IsWanted is_wanted) noexcept {
  for (; block != nullptr; block = block->next.load(std::memory_order_acquire), index = 0) {
    for (; index < kBlock; ++index) {
      Child& child = block->children[index];
      const pid_t process = process_of(child);
      if (process > 0 && is_wanted(process, child.owner.load(std::memory_order_relaxed))) return &child;
    }
  }
  return nullptr;
}

Block* block_of(const Child* child) noexcept {
  Block* block = &first_block;
  while (child < block->children || child >= block->children + kBlock)
    block = block->next.load(std::memory_order_acquire);
  return block;
}

}  // namespace

bool records_children() noexcept { return captured() && in_host_process(); }

void note_child(pid_t process) noexcept {
  if (records_children()) note(process, current_image().identity());
}

void note_successor(pid_t process) noexcept { note(process, &nobody); }

Child* find_child(pid_t process) noexcept {
  return search(&first_block, 0, [process](pid_t one, const fiber::Identity*) { return one == process; });
}

Child* next_child_of(const fiber::Identity* owner, Child* before) noexcept {
  Block* const block = before == nullptr ? &first_block : block_of(before);
  const int index = before == nullptr ? 0 : static_cast<int>(before - block->children) + 1;
  return search(block, index, [owner](pid_t, const fiber::Identity* its) { return its == owner; });
}

void forget_child(Child* child) noexcept {
  if (child == nullptr) return;
  fiber::Identity* const owner = child->owner.load(std::memory_order_relaxed);
  if (owner != nullptr && owner != &nobody) remember(process_of(*child), owner);
  child->owner.store(nullptr, std::memory_order_relaxed);
  child->process.store(0, std::memory_order_release);  // release: what was read of it was read before
}

void forget_children() noexcept {
  for (Block* block = &first_block; block != nullptr; block = block->next.load(std::memory_order_relaxed))
    for (Child& child : block->children) forget_child(&child);
}

fiber::Identity* starter_of(pid_t process) noexcept {
  if (fiber::Identity* const owner = owner_of_child(process)) return owner;
  for (const Past& one : past) {
    // acquire: pairs with the release in remember()
    if (one.process.load(std::memory_order_acquire) == process)
      return one.owner.load(std::memory_order_relaxed);
  }
  return nullptr;
}

fiber::Identity* owner_of_child(pid_t process) noexcept {
  const Child* const child = find_child(process);
  fiber::Identity* const owner = child != nullptr ? child->owner.load(std::memory_order_relaxed) : nullptr;
  return owner == &nobody ? nullptr : owner;
}

}  // namespace clump::image
