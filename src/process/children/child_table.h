// The table of processes that ranks have started: which rank's child each is. See children.h for its use.
//
// Entries are reused, and several threads may learn at the same time that one child has ended: two that wait
// for it, or one that waits and the signal service. So a child is found by value (Found), and what is
// done to its entry later has no effect if the entry is another child's by then.
//
// All functions are async-signal-safe and lock-free, for any thread.
#pragma once

#include <sys/types.h>

#include <atomic>

#include "fiber/identity.h"

namespace clump::image {

class ChildTable {
  struct Entry {
    std::atomic<pid_t> process{0};  ///< 0: the entry is free; negative: it is being written
    std::atomic<fiber::Identity*> owner{nullptr};
    std::atomic<pid_t> told{0};  ///< the process whose end its owner has got a SIGCHLD for
  };

 public:
  /// A child that was in the table when it was looked for.
  struct Found {
    Entry* entry = nullptr;
    pid_t process = 0;
    fiber::Identity* owner = nullptr;

    explicit operator bool() const { return entry != nullptr; }
  };

  /// `process` > 0 is not in the table. Without memory for another entry, it is not noted. Keeps errno.
  void note(pid_t process, fiber::Identity* owner) noexcept;

  Found find(pid_t process) noexcept;
  /// The child of `owner` after `before`, in the order of entries; Found{} begins.
  Found next_of(const fiber::Identity* owner, const Found& before) noexcept;

  /// Takes the child out of the table. True for one caller only.
  bool forget(const Found& child) noexcept;
  /// True for the first caller that tells the owner of this child's end.
  static bool tells_first(const Found& child) noexcept;

  /// Takes out all children. No other thread uses the table.
  void clear() noexcept;

 private:
  static constexpr int kBlock = 250;
  static constexpr pid_t kBeingWritten = -1;

  /// Entries are never moved or freed, so that a signal handler may look at them at any moment.
  struct Block {
    Entry entries[kBlock];
    std::atomic<Block*> next{nullptr};
  };

  static Block* block_after(Block& block) noexcept;
  static Found read(Entry& entry) noexcept;
  template <typename IsWanted>
  Found search(const Entry* after, IsWanted is_wanted) noexcept;

  Block first_;
};

}  // namespace clump::image
