#include "coll/schedule/scratch.h"

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "base/mutex.h"

namespace clump::coll {

namespace {

constexpr int kSmallest = 15, kLargest = 24;  // kept blocks have 32 KB to 16 MB: powers of two
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kMostKept = 0;  // so that it finds a use of memory that was given back
#else
constexpr std::size_t kMostKept = 32 << 20;  // by all ranks of the process together
#endif

struct Shelf {
  struct Kept {
    Kept* next;
  };
  base::ShortMutex mutex;
  std::size_t bytes = 0;
  std::array<Kept*, kLargest + 1> first{};  // by the logarithm of their size

  std::byte* take(std::size_t size) {
    const std::scoped_lock lock(mutex);
    Kept*& list = first[static_cast<std::size_t>(std::countr_zero(size))];
    if (list == nullptr) return nullptr;
    bytes -= size;
    return reinterpret_cast<std::byte*>(std::exchange(list, list->next));
  }
  bool keep(std::byte* memory, std::size_t size) {
    const std::scoped_lock lock(mutex);
    if (bytes + size > kMostKept) return false;
    bytes += size;
    Kept*& list = first[static_cast<std::size_t>(std::countr_zero(size))];
    list = new (memory) Kept{list};
    return true;
  }
};
constinit Shelf shelf;

bool is_kept(std::size_t bytes) {
  return bytes > (std::size_t{1} << (kSmallest - 1)) && bytes <= (std::size_t{1} << kLargest);
}

}  // namespace

Scratch take_scratch(std::size_t bytes) {
  std::byte* memory = nullptr;
  if (is_kept(bytes)) {
    bytes = std::max(std::bit_ceil(bytes), std::size_t{1} << kSmallest);
    memory = shelf.take(bytes);
  }
  if (memory == nullptr) memory = new (std::align_val_t{kScratchAlignment}, std::nothrow) std::byte[bytes];
  return Scratch(memory, GiveBackScratch{bytes});
}

void GiveBackScratch::operator()(std::byte* memory) const noexcept {
  if (is_kept(bytes) && shelf.keep(memory, bytes)) return;
  ::operator delete[](memory, std::align_val_t{kScratchAlignment});
}

}  // namespace clump::coll
