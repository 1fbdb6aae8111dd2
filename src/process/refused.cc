// Calls from code of a rank that act on the whole process, or on the kernel thread that runs the rank,
// although ranks share them: refused when they are made. A program that imports one of them runs as processes
// anyway (process_only.cc). This is for its libraries, which may import them and never call them. The
// functions below may be called with some arguments; all others of process_only.cc get a door
// (image/doors.h).
#include <fmt/format.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <unistd.h>

#include <algorithm>
#include <cstdarg>
#include <cstdint>
#include <ctime>
#include <string_view>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/from_process.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/refusal.h"

namespace clump::image {
namespace {

/// Whether the caller is code of a rank in a process with other ranks.
bool is_of_rank(const void* caller) { return records_children() && image_at(caller) != nullptr; }

void check_undo(const sembuf* operations, std::size_t count, const void* caller) {
  const auto undoes = [](const sembuf& one) { return (one.sem_flg & SEM_UNDO) != 0; };
  if (std::any_of(operations, operations + count, undoes) && is_of_rank(caller))
    refuse("semop(SEM_UNDO)", "has the kernel undo it at the end of the process");
}

constexpr char kEndOfHeap[] = "moves the end of the heap of the process";

}  // namespace

void refuse_call_of_library(std::string_view function, std::string_view reason) {
  if (records_children()) refuse(fmt::format("{}()", function), reason);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int semop(int set, sembuf* operations, size_t count) noexcept {
  static constinit Hidden<int(int, sembuf*, size_t)> real{"semop"};
  check_undo(operations, count, __builtin_return_address(0));
  return real(set, operations, count);
}

CLUMP_HOST_API int semtimedop(int set, sembuf* operations, size_t count, const timespec* limit) noexcept {
  static constinit Hidden<int(int, sembuf*, size_t, const timespec*)> real{"semtimedop"};
  check_undo(operations, count, __builtin_return_address(0));
  return real(set, operations, count, limit);
}

CLUMP_HOST_API void* sbrk(intptr_t bytes) noexcept {
  static constinit Hidden<void*(intptr_t)> real{"sbrk"};
  if (bytes != 0 && is_of_rank(__builtin_return_address(0)))
    refuse(fmt::format("sbrk({})", bytes), kEndOfHeap);
  return real(bytes);
}

CLUMP_HOST_API int brk(void* end) noexcept {
  static constinit Hidden<int(void*)> real{"brk"};
  if (is_of_rank(__builtin_return_address(0))) refuse(fmt::format("brk({})", end), kEndOfHeap);
  return real(end);
}

CLUMP_HOST_API int nice(int change) noexcept {
  static constinit Hidden<int(int)> real{"nice"};
  if (change != 0 && is_of_rank(__builtin_return_address(0)))
    refuse(fmt::format("nice({})", change), "changes the priority of the kernel thread that runs the rank");
  return real(change);
}

CLUMP_HOST_API long call_ptrace(int request, long process, void* address, void* data) noexcept asm("ptrace");
long call_ptrace(int request, long process, void* address, void* data) noexcept {
  static constinit Hidden<long(int, long, void*, void*)> real{"ptrace"};
  if (clump::fiber::rank_fiber() != nullptr && is_of_rank(__builtin_return_address(0)))
    refuse("ptrace()", "makes a tracer of the kernel thread that runs the rank");
  return real(request, process, address, data);
}

}  // extern "C"
