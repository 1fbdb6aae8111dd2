// Memory that code of a rank maps at an address of its choice. Ranks of a process share an address space. If
// a rank maps with MAP_FIXED where another rank has mapped something, it would take that rank's memory;
// programs that agree on one address for all processes do so. A table of what code of ranks has mapped makes
// this visible.
//
// Memory that the C library or an allocator maps is not in the table, as no program knows where it will be.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/types.h"
#include "image/fork_locks.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/libc/exit.h"
#include "process/memory_owner.h"
#include "process/refusal.h"

namespace clump::image {
namespace {

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  const Image* owner = nullptr;
};

/// The mappings in the order of their addresses; they do not overlap. The table is not in memory of an
/// allocator, which may hold a lock of its own when it maps or unmaps memory and so calls these functions. A
/// mapping for which there is no room is not noted.
constexpr std::size_t kMostMappings = 1 << 16;
constinit Mapping mappings[kMostMappings];
constinit std::size_t mapping_count = 0;
/// Not known to fork(): an allocator's own handlers of fork() wait for threads that map memory.
constinit std::mutex mappings_lock;
/// Whether there are any mappings: if not, the lock is not taken.
std::atomic<bool> has_mappings{false};

using Lock = HeldForProcess<std::mutex>;

std::uintptr_t address_of(const void* block) { return reinterpret_cast<std::uintptr_t>(block); }

/// The end of a block in whole pages, as the kernel counts it.
std::uintptr_t end_of(const void* block, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(getpagesize());
  return (address_of(block) + bytes + page - 1) & ~(page - 1);
}

/// The first mapping that has a byte at or after `begin`.
Mapping* first_after(std::uintptr_t begin) {
  return std::partition_point(mappings, mappings + mapping_count,
                              [&](const Mapping& one) { return one.end <= begin; });
}

void insert(Mapping* place, const Mapping& mapping) {
  if (mapping_count == kMostMappings) return;
  for (Mapping* one = mappings + mapping_count; one != place; --one) *one = one[-1];
  *place = mapping;
  ++mapping_count;
}

void forget(std::uintptr_t begin, std::uintptr_t end) {
  Mapping* first = first_after(begin);
  if (first != mappings + mapping_count && first->begin < begin) {
    const Mapping whole = *first;
    first->end = begin;
    insert(++first, {begin, whole.end, whole.owner});
  }
  Mapping* last = first;
  while (last != mappings + mapping_count && last->end <= end) ++last;
  if (last != mappings + mapping_count && last->begin < end) last->begin = end;
  mapping_count -= static_cast<std::size_t>(last - first);
  std::move(last, mappings + mapping_count + (last - first), first);
}

void add(std::uintptr_t begin, std::uintptr_t end, const Image* owner) {
  forget(begin, end);
  if (begin >= end) return;
  insert(first_after(begin), {begin, end, owner});
  has_mappings.store(true, std::memory_order_relaxed);  // relaxed: its reader has the memory from here
}

/// Another rank that has mapped some of the range; null if there is none. Then `mine` becomes its owner, if
/// it `claims` it: so of two ranks that name the same place one is the first.
const Image* other_owner(const Image& mine, std::uintptr_t begin, std::uintptr_t end, bool claims) {
  const Lock lock(mappings_lock);
  for (const Mapping* one = first_after(begin); one != mappings + mapping_count && one->begin < end; ++one)
    if (one->owner != &mine) return one->owner;
  if (claims) add(begin, end, &mine);
  return nullptr;
}

/// Notes the owner of a block. `owner` null: it does not belong to a rank any more, or others map it.
void note(const void* block, std::size_t bytes, const Image* owner) {
  if (owner == nullptr && !has_mappings.load(std::memory_order_relaxed)) return;
  if (!in_host_process()) return;
  const Lock lock(mappings_lock);
  if (owner == nullptr)
    forget(address_of(block), end_of(block, bytes));
  else
    add(address_of(block), end_of(block, bytes), owner);
}

/// The rank that has mapped this byte; null if none has, or if the table stays locked: the caller may be a
/// handler that has interrupted the thread with the lock.
const Image* mapper_of(std::uintptr_t address) noexcept {
  constexpr int kTries = 100'000;
  for (int i = 0; i < kTries; ++i) {
    const std::unique_lock lock(mappings_lock, std::try_to_lock);
    if (!lock.owns_lock()) {
      ::syscall(SYS_sched_yield);  // the thread with the lock may have lost its core
      continue;
    }
    const Mapping* const one = first_after(address);
    return one != mappings + mapping_count && one->begin <= address ? one->owner : nullptr;
  }
  return nullptr;
}

[[noreturn]] void refuse_place(const char* call, const Image& other, const void* wanted, std::size_t bytes) {
  refuse(fmt::format("{} of {} bytes at {}", call, bytes, wanted),
         fmt::format("names memory that rank {} has mapped in the address space", other.identity()->rank));
}

/// The rank whose code is the caller, if its process has other ranks; null otherwise.
const Image* calling_rank(const void* caller) {
  return captured() && in_host_process() ? image_at(caller) : nullptr;
}

void* map(void* wanted, std::size_t bytes, int protection, int flags, int descriptor, off_t from,
          const void* caller) {
  static constinit Hidden<void*(void*, std::size_t, int, int, int, off_t)> real{"mmap"};
  const Image* const rank = calling_rank(caller);
  const bool is_fixed = (flags & (MAP_FIXED | MAP_FIXED_NOREPLACE)) != 0;
  const bool replaces = (flags & MAP_FIXED_NOREPLACE) == 0;
  const bool claims = rank != nullptr && is_fixed && replaces;
  const Image* const other = rank != nullptr && is_fixed
                                 ? other_owner(*rank, address_of(wanted), end_of(wanted, bytes), claims)
                                 : nullptr;
  if (other != nullptr && replaces) refuse_place("mmap(MAP_FIXED)", *other, wanted, bytes);
  void* const made = real(wanted, bytes, protection, flags, standard::kernel_number(descriptor), from);
  if (made == MAP_FAILED) {
    const int error = errno;
    if (other != nullptr && error == EEXIST) refuse_place("mmap(MAP_FIXED_NOREPLACE)", *other, wanted, bytes);
    if (claims) note(wanted, bytes, nullptr);
    errno = error;
    return made;
  }
  note(made, bytes, rank);
  return made;
}

}  // namespace

fiber::Identity* memory_owner(const void* address) noexcept {
  if (!captured() || !in_host_process()) return nullptr;
  const Image* image = mapper_of(address_of(address));
  if (image == nullptr) image = image_at(address);
  return image != nullptr ? image->identity() : nullptr;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void* mmap(void* wanted, size_t bytes, int protection, int flags, int descriptor,
                          off_t from) noexcept {
  return map(wanted, bytes, protection, flags, descriptor, from, __builtin_return_address(0));
}

CLUMP_HOST_API int munmap(void* block, size_t bytes) noexcept {
  static constinit Hidden<int(void*, size_t)> real{"munmap"};
  // Noted first: as soon as the memory is free, another rank may map it.
  note(block, bytes, nullptr);
  return real(block, bytes);
}

CLUMP_HOST_API void* mremap(void* block, size_t bytes, size_t wanted_bytes, int flags, ...) noexcept {
  static constinit Hidden<void*(void*, size_t, size_t, int, ...)> real{"mremap"};
  va_list rest;
  va_start(rest, flags);
  void* const wanted = (flags & MREMAP_FIXED) != 0 ? va_arg(rest, void*) : nullptr;
  va_end(rest);
  const Image* const rank = calling_rank(__builtin_return_address(0));
  if (rank != nullptr && wanted != nullptr) {
    const Image* const other = other_owner(*rank, address_of(wanted), end_of(wanted, wanted_bytes), true);
    if (other != nullptr) refuse_place("mremap(MREMAP_FIXED)", *other, wanted, wanted_bytes);
  }
  void* const made = (*real)(block, bytes, wanted_bytes, flags, wanted);
  if (made == MAP_FAILED) return made;
  if ((flags & MREMAP_DONTUNMAP) == 0) note(block, bytes, nullptr);
  note(made, wanted_bytes, rank);
  return made;
}

}  // extern "C"
