// libclump_malloc.so: malloc() and its kin from mimalloc, as mpiexec preloads it for ranks that share a
// process (docs/decisions/029-allocator.md). mimalloc's functions differ from the C library's in what
// programs may rely on; here they do what malloc(3) and POSIX say, and errno tells of failures.
//
// The library needs nothing but mimalloc and the C library, and has no state of its own: it may be called
// from the first instruction of the process on.
#include <mimalloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "malloc/kept.h"
#include "malloc/young.h"
#include "malloc/zeros.h"

#define CLUMP_MALLOC_API extern "C" __attribute__((visibility("default")))

namespace kept = clump::kept;
namespace young = clump::young;

namespace {

/// mimalloc takes address space without asking whether there is memory for it; a program that asks for more
/// than the system has expects a refusal. From this size on two system calls are nothing.
constexpr std::size_t kAskSystem = std::size_t{1} << 30;

[[gnu::cold, gnu::noinline]] bool system_has(std::size_t bytes) {
  void* const probe = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (probe == MAP_FAILED) return false;
  munmap(probe, bytes);
  return true;
}

bool is_refused(std::size_t bytes) { return bytes >= kAskSystem && !system_has(bytes); }

void* no_memory() {
  errno = ENOMEM;
  return nullptr;
}

void* checked(void* block) { return block != nullptr ? block : no_memory(); }

[[gnu::noinline]] void* large(std::size_t bytes) {
  if (is_refused(bytes)) return no_memory();
  return checked(kept::fits(bytes) ? kept::take() : mi_malloc(bytes));
}

bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::size_t page() { return static_cast<std::size_t>(getpagesize()); }

/// From this size on it is worth asking the kernel which pages are there.
constexpr std::size_t kLarge = std::size_t{256} << 10;

[[gnu::noinline]] void* zeroed(void* block, std::size_t bytes) {
  const int error = errno;
  clump::zeros::fill(block, bytes);
  errno = error;
  return block;
}

/// The C library takes the next power of two.
void* aligned(std::size_t alignment, std::size_t bytes) {
  constexpr std::size_t kMost = std::size_t{1} << 62;
  if (alignment > kMost) {
    errno = EINVAL;
    return nullptr;
  }
  std::size_t power = young::kUnit;
  while (power < alignment) power *= 2;
  if (void* const block = young::take(bytes, power)) return block;
  return is_refused(bytes) ? no_memory() : checked(mi_malloc_aligned(bytes, power));
}

}  // namespace

CLUMP_MALLOC_API void* malloc(std::size_t bytes) noexcept {
  if (void* const block = young::take(bytes)) return block;
  if (bytes > kept::kLeast) [[unlikely]]
    return large(bytes);
  return checked(mi_malloc(bytes));
}

CLUMP_MALLOC_API void free(void* block) noexcept {
  if (young::holds(block)) [[unlikely]]
    return;
  if (kept::may_be_one(block) && kept::keep(block)) [[unlikely]]
    return;
  mi_free(block);
}

CLUMP_MALLOC_API void* calloc(std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) return no_memory();
  if (void* const block = young::take(bytes)) return block;
  if (bytes < kLarge) return checked(mi_zalloc(bytes));
  void* const block = malloc(bytes);
  return block != nullptr ? zeroed(block, bytes) : nullptr;
}

CLUMP_MALLOC_API void* realloc(void* block, std::size_t bytes) noexcept {
  if (bytes == 0 && block != nullptr) {
    free(block);
    return nullptr;
  }
  if (block == nullptr) return malloc(bytes);
  if (!young::holds(block)) return is_refused(bytes) ? no_memory() : checked(mi_realloc(block, bytes));
  const std::size_t had = young::size_of(block);
  if (bytes <= had) return block;
  void* const moved = malloc(bytes);
  if (moved != nullptr) std::memcpy(moved, block, had);
  return moved;
}

CLUMP_MALLOC_API void* reallocarray(void* block, std::size_t count, std::size_t size) noexcept {
  std::size_t bytes = 0;
  return __builtin_mul_overflow(count, size, &bytes) ? no_memory() : realloc(block, bytes);
}

CLUMP_MALLOC_API void* memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

CLUMP_MALLOC_API void* aligned_alloc(std::size_t alignment, std::size_t bytes) noexcept {
  return aligned(alignment, bytes);
}

CLUMP_MALLOC_API int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  if (alignment % sizeof(void*) != 0 || !is_power_of_two(alignment)) return EINVAL;
  const int error = errno;
  void* const made = aligned(alignment, bytes);
  errno = error;
  if (made == nullptr) return ENOMEM;
  *block = made;
  return 0;
}

CLUMP_MALLOC_API void* valloc(std::size_t bytes) noexcept { return aligned(page(), bytes); }

CLUMP_MALLOC_API void* pvalloc(std::size_t bytes) noexcept {
  std::size_t rounded = 0;
  if (__builtin_add_overflow(bytes, page() - 1, &rounded)) return no_memory();
  return aligned(page(), rounded / page() * page());
}

CLUMP_MALLOC_API std::size_t malloc_usable_size(void* block) noexcept {
  return young::holds(block) ? young::size_of(block) : mi_usable_size(block);
}

// The C library's other names for them: blocks of one allocator must not come to the other's free().

CLUMP_MALLOC_API void* __libc_malloc(std::size_t bytes) noexcept { return malloc(bytes); }
CLUMP_MALLOC_API void __libc_free(void* block) noexcept { free(block); }
CLUMP_MALLOC_API void cfree(void* block) noexcept { free(block); }
CLUMP_MALLOC_API void* __libc_calloc(std::size_t count, std::size_t size) noexcept {
  return calloc(count, size);
}
CLUMP_MALLOC_API void* __libc_realloc(void* block, std::size_t bytes) noexcept {
  return realloc(block, bytes);
}
CLUMP_MALLOC_API void* __libc_memalign(std::size_t alignment, std::size_t bytes) noexcept {
  return memalign(alignment, bytes);
}
CLUMP_MALLOC_API void* __libc_valloc(std::size_t bytes) noexcept { return valloc(bytes); }
CLUMP_MALLOC_API void* __libc_pvalloc(std::size_t bytes) noexcept { return pvalloc(bytes); }
CLUMP_MALLOC_API int __posix_memalign(void** block, std::size_t alignment, std::size_t bytes) noexcept {
  return posix_memalign(block, alignment, bytes);
}
