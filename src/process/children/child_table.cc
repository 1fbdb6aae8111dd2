#include "process/children/child_table.h"

#include <sys/mman.h>

#include <cerrno>
#include <new>

namespace clump::image {

/// The block after `block`, made if there is none; null if there is no memory. malloc() is not for signal
/// handlers.
ChildTable::Block* ChildTable::block_after(Block& block) noexcept {
  // acquire: pairs with the release of the thread that has made it
  if (Block* const known = block.next.load(std::memory_order_acquire)) return known;
  void* const memory =
      ::mmap(nullptr, sizeof(Block), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  Block* const made = new (memory) Block;
  Block* other = nullptr;
  // release: pairs with the acquire above and in search()
  if (block.next.compare_exchange_strong(other, made, std::memory_order_acq_rel)) return made;
  ::munmap(memory, sizeof(Block));
  return other;
}

void ChildTable::note(pid_t process, fiber::Identity* owner) noexcept {
  const int error = errno;
  for (Block* block = &first_; block != nullptr; block = block_after(*block)) {
    for (Entry& entry : block->entries) {
      pid_t free = 0;
      // acquire: the thread that has freed the entry does not touch it any more
      if (!entry.process.compare_exchange_strong(free, kBeingWritten, std::memory_order_acquire)) continue;
      entry.told.store(0, std::memory_order_relaxed);
      entry.owner.store(owner, std::memory_order_release);      // release: with `kBeingWritten`, see read()
      entry.process.store(process, std::memory_order_release);  // release: pairs with acquire in read()
      errno = error;
      return;
    }
  }
  errno = error;
}

/// What the entry holds; Found{} if that is nothing, or another child than a moment ago.
ChildTable::Found ChildTable::read(Entry& entry) noexcept {
  // acquire: pairs with release in note(), so that the owner is this child's or a later one's; if it is a
  // later one's, the second look sees that the entry was given up in between
  const pid_t process = entry.process.load(std::memory_order_acquire);
  if (process <= 0) return {};
  fiber::Identity* const owner = entry.owner.load(std::memory_order_acquire);
  if (entry.process.load(std::memory_order_relaxed) != process) return {};
  return {&entry, process, owner};
}

/// The first child after the entry `after` (null: of all) that `is_wanted` accepts.
template <typename IsWanted>
ChildTable::Found ChildTable::search(const Entry* after, IsWanted is_wanted) noexcept {
  for (Block* block = &first_; block != nullptr; block = block->next.load(std::memory_order_acquire)) {
    int index = 0;
    if (after != nullptr) {
      if (after < block->entries || after >= block->entries + kBlock) continue;
      index = static_cast<int>(after - block->entries) + 1;
      after = nullptr;
    }
    for (; index < kBlock; ++index) {
      const Found found = read(block->entries[index]);
      if (found && is_wanted(found)) return found;
    }
  }
  return {};
}

ChildTable::Found ChildTable::find(pid_t process) noexcept {
  return search(nullptr, [process](const Found& one) { return one.process == process; });
}

ChildTable::Found ChildTable::next_of(const fiber::Identity* owner, const Found& before) noexcept {
  return search(before.entry, [owner](const Found& one) { return one.owner == owner; });
}

bool ChildTable::forget(const Found& child) noexcept {
  if (!child) return false;
  pid_t process = child.process;
  if (!child.entry->process.compare_exchange_strong(process, kBeingWritten, std::memory_order_acq_rel))
    return false;
  child.entry->process.store(0, std::memory_order_release);  // release: pairs with the acquire in note()
  return true;
}

bool ChildTable::tells_first(const Found& child) noexcept {
  return child.entry->told.exchange(child.process, std::memory_order_relaxed) != child.process;
}

void ChildTable::clear() noexcept {
  for (Block* block = &first_; block != nullptr; block = block->next.load(std::memory_order_relaxed))
    for (Entry& entry : block->entries) entry.process.store(0, std::memory_order_relaxed);
}

}  // namespace clump::image
