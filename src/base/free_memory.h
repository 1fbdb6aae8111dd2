// How much memory the system still gives, and a part of it to be handed out. Nothing here allocates:
// allocators may ask. Any thread.
#pragma once

#include <atomic>
#include <cstddef>

namespace clump::base {

/// Bytes that can be had before the system has to swap or to end somebody: MemAvailable of /proc/meminfo, or
/// less where a control group (version 2) that this process is in has less left. 0 if the system does not
/// say. `root` stands before all paths, for tests.
std::size_t free_memory(const char* root = "");

/// Hands out memory that is to be filled before anybody needs it, without ever taking all there is: a quarter
/// of what is free, and when that is used up a quarter of what is free then.
class MemoryBudget {
 public:
  constexpr explicit MemoryBudget(const char* root = "") : root_(root) {}

  /// Whether the caller may fill so many bytes.
  bool take(std::size_t bytes);

 private:
  const char* root_;
  std::atomic<std::size_t> left_{0};
};

}  // namespace clump::base
