// An allocator whose start-up calls every function of the C library that libclump_host.so stands in for: the
// first malloc() of the process, which comes before any constructor, runs the tables of calls_*.cc. jemalloc,
// tcmalloc and mimalloc read /proc, look symbols up, ask for cores and make threads there. No such function
// may come back to malloc() by itself: what the C library allocates is its own affair.
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "calls.h"

namespace {

constexpr std::size_t kHeader = 16, kRoom = std::size_t{8} << 30;

constinit std::atomic<std::uintptr_t> next{0};
constinit std::uintptr_t end_of_room = 0;
constinit std::atomic<bool> has_started{false};
constinit thread_local bool is_calling = false;

/// Where libclump_host.so lies.
constinit std::uintptr_t host_begin = 0, host_end = 0;
constinit const char* called = nullptr;
constinit const char* offenders[64];
constinit int offender_count = 0, call_count = 0;
constinit bool is_in_main = false, came_before_main = false;

const link_map* host_library() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (std::strstr(map->l_name, "libclump_host.so") != nullptr) return map;
  }
  return nullptr;
}

void note_host() {
  const link_map* const map = host_library();
  if (map == nullptr) return;
  host_begin = map->l_addr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(host_begin);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(host_begin + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD)
      host_end = std::max(host_end, host_begin + segments[i].p_vaddr + segments[i].p_memsz);
  }
}

template <typename Use>
void for_each_row(Use use) {
  for (const auto table : {calls::of_threads, calls::of_processes, calls::of_files, calls::of_makers,
                           calls::of_signals, calls::of_state}) {
    for (const calls::Row& row : table()) use(row);
  }
}

void call_all() {
  is_calling = true;
  for_each_row([](const calls::Row& row) {
    if (row.call == nullptr) return;
    called = row.name;
    row.call();
    ++call_count;
  });
  called = nullptr;
  is_calling = false;
  came_before_main = !is_in_main;
}

void* take(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (!has_started.exchange(true)) {
    const auto room = reinterpret_cast<std::uintptr_t>(
        reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, kRoom, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
    end_of_room = room + kRoom;
    next = room;
    note_host();
    call_all();
  }
  const auto from = reinterpret_cast<std::uintptr_t>(caller);
  if (is_calling && from >= host_begin && from < host_end && offender_count < 64 &&
      (offender_count == 0 || offenders[offender_count - 1] != called))
    offenders[offender_count++] = called;
  if (bytes > kRoom / 2) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::size_t all = bytes + kHeader + alignment;
  const std::uintptr_t begin = next.fetch_add(all);
  if (begin + all > end_of_room) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::uintptr_t block = (begin + kHeader + alignment - 1) / alignment * alignment;
  *reinterpret_cast<std::size_t*>(block - kHeader) = bytes;
  return reinterpret_cast<void*>(block);
}

std::size_t size_of(const void* block) {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - kHeader);
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

// What the test's main() asks, by dlsym().

EXPORTED void calling_allocator_main_begins() { is_in_main = true; }

/// The table has a row for the function: how to call it, or why not.
EXPORTED bool calling_allocator_knows(const char* function) {
  bool found = false;
  for_each_row([&](const calls::Row& row) { found = found || std::strcmp(row.name, function) == 0; });
  return found;
}

/// How many functions were called by the start-up; 0 if that did not come before main().
EXPORTED int calling_allocator_calls() { return came_before_main ? call_count : 0; }

/// The functions that allocated by themselves; null where there are no more.
EXPORTED const char* calling_allocator_offender(int number) {
  return number < offender_count ? offenders[number] : nullptr;
}

EXPORTED void* malloc(std::size_t bytes) { return take(bytes, 16, __builtin_return_address(0)); }
EXPORTED void free(void*) {}
EXPORTED void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  // Never used before, so all zeros. The C library's calls come by way of libclump_host.so's calloc().
  return take(bytes, 16, nullptr);
}
EXPORTED void* realloc(void* block, std::size_t bytes) {
  void* const moved = take(bytes, 16, __builtin_return_address(0));
  if (moved != nullptr && block != nullptr) std::memcpy(moved, block, std::min(bytes, size_of(block)));
  return moved;
}
EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
  return take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
}
EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
}
EXPORTED int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
  return *block != nullptr ? 0 : ENOMEM;
}
EXPORTED std::size_t malloc_usable_size(void* block) { return block != nullptr ? size_of(block) : 0; }

}  // extern "C"
