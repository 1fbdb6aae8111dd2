// Functions that make, duplicate and close descriptors: for 0, 1 and 2 they act on those of the calling rank
// (standard.h).
//
// If a rank has closed one of the three, the next of these functions gives it that number, as programs expect
// that close a descriptor in order to open another file there. Files that the C library itself opens, as
// fopen() does, get other numbers.
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>

#include "base/types.h"
#include "image/no_cancel.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/greetings.h"
#include "process/files/own_program.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

constexpr int kLongestName = 32;

/// Another path for what the rank has as 0, 1 or 2, if `path` names one of these; `path` otherwise. The job's
/// own streams keep their usual names.
const char* real_path(const char* path, char (&room)[kLongestName]) {
  if (const char* const own = path_for_rank(path); own != path) return own;
  const int number = standard::named_by(path);
  if (number < 0) return path;
  const int real = standard::place_of_standard(number).real;
  if (real == number) return path;
  std::snprintf(room, sizeof room, "/proc/self/fd/%d", real);
  return room;
}

int open_at(int folder, const char* path, int flags, mode_t mode, const void* caller) {
  static constinit Hidden<int(int, const char*, int, ...)> real{"openat"};
  char room[kLongestName];
  const int made =
      (*real)(standard::kernel_number(folder), captured() ? real_path(path, room) : path, flags, mode);
  return standard::place_lowest(made, caller);
}

/// Whether open() with these flags has a mode.
bool makes_file(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

/// What accept() has made, if it may stay.
int greeted(int listener, int made) {
  if (made < 0 || !greetings::in_use.load(std::memory_order_relaxed)) [[likely]]
    return made;
  return greetings::let_in(listener, made);
}

/// Places the two ends of a pipe or of a pair of sockets.
void place_both(int ends[2], const void* caller) {
  ends[0] = standard::place_lowest(ends[0], caller);
  ends[1] = standard::place_lowest(ends[1], caller);
}

std::FILE* open_stream(const char* path, const char* mode, const void* caller) {
  static constinit Hidden<FILE*(const char*, const char*)> real{"fopen"};
  char room[kLongestName];
  return standard::keep_stream(real(captured() ? real_path(path, room) : path, mode), caller);
}

}  // namespace

int open_kernels(const char* path, int flags) {
  char room[kLongestName];
  return static_cast<int>(syscall(SYS_openat, AT_FDCWD, real_path(path, room), flags, 0666));
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API FILE* fopen(const char* path, const char* mode) {
  return open_stream(path, mode, __builtin_return_address(0));
}

CLUMP_HOST_API int open(const char* path, int flags, ...) {
  mode_t mode = 0;
  if (makes_file(flags)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return open_at(AT_FDCWD, path, flags, mode, __builtin_return_address(0));
}

CLUMP_HOST_API int openat(int folder, const char* path, int flags, ...) {
  mode_t mode = 0;
  if (makes_file(flags)) {
    va_list rest;
    va_start(rest, flags);
    mode = va_arg(rest, mode_t);
    va_end(rest);
  }
  return open_at(folder, path, flags, mode, __builtin_return_address(0));
}

// The names of these functions with -D_FORTIFY_SOURCE.
CLUMP_HOST_API int __open_2(const char* path, int flags) {
  return open_at(AT_FDCWD, path, flags, 0, __builtin_return_address(0));
}
CLUMP_HOST_API int __openat_2(int folder, const char* path, int flags) {
  return open_at(folder, path, flags, 0, __builtin_return_address(0));
}

CLUMP_HOST_API int creat(const char* path, mode_t mode) {
  return open_at(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode, __builtin_return_address(0));
}

CLUMP_HOST_API int socket(int domain, int type, int protocol) noexcept {
  static constinit Hidden<int(int, int, int)> real{"socket"};
  return standard::place_lowest(real(domain, type, protocol), __builtin_return_address(0));
}

CLUMP_HOST_API int accept(int descriptor, sockaddr* address, socklen_t* bytes) {
  static constinit Hidden<int(int, sockaddr*, socklen_t*)> real{"accept"};
  const int made = left_behind::unless_left(real(standard::kernel_number(descriptor), address, bytes));
  return standard::place_lowest(greeted(descriptor, made), __builtin_return_address(0));
}

CLUMP_HOST_API int accept4(int descriptor, sockaddr* address, socklen_t* bytes, int flags) {
  static constinit Hidden<int(int, sockaddr*, socklen_t*, int)> real{"accept4"};
  const int made = left_behind::unless_left(real(standard::kernel_number(descriptor), address, bytes, flags));
  return standard::place_lowest(greeted(descriptor, made), __builtin_return_address(0));
}

CLUMP_HOST_API int pipe(int ends[2]) noexcept {
  static constinit Hidden<int(int*)> real{"pipe"};
  const int result = real(ends);
  if (result == 0) place_both(ends, __builtin_return_address(0));
  return result;
}

CLUMP_HOST_API int pipe2(int ends[2], int flags) noexcept {
  static constinit Hidden<int(int*, int)> real{"pipe2"};
  const int result = real(ends, flags);
  if (result == 0) place_both(ends, __builtin_return_address(0));
  return result;
}

CLUMP_HOST_API int socketpair(int domain, int type, int protocol, int ends[2]) noexcept {
  static constinit Hidden<int(int, int, int, int*)> real{"socketpair"};
  const int result = real(domain, type, protocol, ends);
  if (result == 0) place_both(ends, __builtin_return_address(0));
  return result;
}

CLUMP_HOST_API int dup(int descriptor) noexcept {
  return standard::duplicate(descriptor, 0, false, __builtin_return_address(0));
}

CLUMP_HOST_API int dup2(int from, int to) noexcept {
  if (from == to) return fcntl(from, F_GETFD) < 0 ? -1 : to;
  return standard::replace(from, to, false, __builtin_return_address(0));
}

CLUMP_HOST_API int dup3(int from, int to, int flags) noexcept {
  if (from == to || (flags & ~O_CLOEXEC) != 0) {
    errno = EINVAL;
    return -1;
  }
  return standard::replace(from, to, (flags & O_CLOEXEC) != 0, __builtin_return_address(0));
}

CLUMP_HOST_API int close(int descriptor) { return standard::close(descriptor, __builtin_return_address(0)); }

CLUMP_HOST_API int close_range(unsigned first, unsigned last, int flags) noexcept {
  const NoCancel no_cancel;
  return standard::close_range(first, last, flags, __builtin_return_address(0));
}

CLUMP_HOST_API void closefrom(int lowest) noexcept {
  const NoCancel no_cancel;
  (void)standard::close_range(static_cast<unsigned>(std::max(lowest, 0)), ~0U, 0,
                              __builtin_return_address(0));
}

}  // extern "C"
