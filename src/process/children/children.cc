#include "process/children/children.h"

#include <atomic>

#include "image/rank_image.h"
#include "process/libc/exit.h"

namespace clump::image {
namespace {

constinit ChildTable children;

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

}  // namespace

bool records_children() noexcept { return captured() && in_host_process(); }

void note_child(pid_t process) noexcept {
  if (process > 0 && records_children()) children.note(process, current_image().identity());
}

void note_successor(pid_t process) noexcept {
  if (process > 0) children.note(process, &nobody);
}

ChildTable::Found find_child(pid_t process) noexcept { return children.find(process); }

ChildTable::Found next_child_of(const fiber::Identity* owner, const ChildTable::Found& before) noexcept {
  return children.next_of(owner, before);
}

void forget_child(const ChildTable::Found& child) noexcept {
  // First, so that a thread that does not find the child in the table any more finds it here.
  if (child && child.owner != &nobody) remember(child.process, child.owner);
  children.forget(child);
}

void forget_children() noexcept { children.clear(); }

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
  fiber::Identity* const owner = children.find(process).owner;
  return owner == &nobody ? nullptr : owner;
}

}  // namespace clump::image
