// Functions that only use a descriptor: 0, 1 and 2 are the calling rank's (standard.h). The functions that
// write text are in files/stdio.cc.
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include <cstdarg>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/greetings.h"
#include "process/files/output.h"
#include "process/files/standard.h"
#include "process/rank_state.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

using left_behind::unless_left;
using standard::kernel_number;

/// kernel_number() for writing past Clump's streams: what was printed before is written first.
int number_to_write(int descriptor) {
  if (standard::is_standard(descriptor) && descriptor > 0)
    current_image().state().output.leave(descriptor, standard::place_of_standard(descriptor).stream);
  return kernel_number(descriptor);
}

/// Whether libfabric has asked for a connection to another process of the job (greetings.h).
bool is_sent_with_greeting(int descriptor, const void* bytes, std::size_t count, int flags, ssize_t& sent) {
  return greetings::in_use.load(std::memory_order_relaxed) && greetings::may_be_request(bytes, count) &&
         greetings::send_with_greeting(descriptor, bytes, count, flags, sent);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// Reading.

CLUMP_HOST_API ssize_t read(int descriptor, void* bytes, size_t count) {
  static constinit Hidden<ssize_t(int, void*, size_t)> real{"read"};
  return unless_left(real(kernel_number(descriptor), bytes, count));
}
CLUMP_HOST_API ssize_t __read_chk(int descriptor, void* bytes, size_t count, size_t room) {
  static constinit Hidden<ssize_t(int, void*, size_t, size_t)> real{"__read_chk"};
  return unless_left(real(kernel_number(descriptor), bytes, count, room));
}
CLUMP_HOST_API ssize_t readv(int descriptor, const iovec* parts, int count) {
  static constinit Hidden<ssize_t(int, const iovec*, int)> real{"readv"};
  return unless_left(real(kernel_number(descriptor), parts, count));
}
CLUMP_HOST_API ssize_t pread(int descriptor, void* bytes, size_t count, off_t from) {
  static constinit Hidden<ssize_t(int, void*, size_t, off_t)> real{"pread"};
  return real(kernel_number(descriptor), bytes, count, from);
}
CLUMP_HOST_API ssize_t __pread_chk(int descriptor, void* bytes, size_t count, off_t from, size_t room) {
  static constinit Hidden<ssize_t(int, void*, size_t, off_t, size_t)> real{"__pread_chk"};
  return real(kernel_number(descriptor), bytes, count, from, room);
}
CLUMP_HOST_API ssize_t recv(int descriptor, void* bytes, size_t count, int flags) {
  static constinit Hidden<ssize_t(int, void*, size_t, int)> real{"recv"};
  return unless_left(real(kernel_number(descriptor), bytes, count, flags));
}
CLUMP_HOST_API ssize_t __recv_chk(int descriptor, void* bytes, size_t count, size_t room, int flags) {
  static constinit Hidden<ssize_t(int, void*, size_t, size_t, int)> real{"__recv_chk"};
  return unless_left(real(kernel_number(descriptor), bytes, count, room, flags));
}
CLUMP_HOST_API ssize_t recvfrom(int descriptor, void* bytes, size_t count, int flags, sockaddr* from,
                                socklen_t* length) {
  static constinit Hidden<ssize_t(int, void*, size_t, int, sockaddr*, socklen_t*)> real{"recvfrom"};
  return unless_left(real(kernel_number(descriptor), bytes, count, flags, from, length));
}
CLUMP_HOST_API ssize_t __recvfrom_chk(int descriptor, void* bytes, size_t count, size_t room, int flags,
                                      sockaddr* from, socklen_t* length) {
  static constinit Hidden<ssize_t(int, void*, size_t, size_t, int, sockaddr*, socklen_t*)> real{
      "__recvfrom_chk"};
  return unless_left(real(kernel_number(descriptor), bytes, count, room, flags, from, length));
}

// Writing.

CLUMP_HOST_API ssize_t pwrite(int descriptor, const void* bytes, size_t count, off_t to) {
  static constinit Hidden<ssize_t(int, const void*, size_t, off_t)> real{"pwrite"};
  return real(number_to_write(descriptor), bytes, count, to);
}
CLUMP_HOST_API ssize_t send(int descriptor, const void* bytes, size_t count, int flags) {
  static constinit Hidden<ssize_t(int, const void*, size_t, int)> real{"send"};
  if (ssize_t sent = 0; count <= 64 && is_sent_with_greeting(descriptor, bytes, count, flags, sent))
      [[unlikely]]
    return sent;
  return unless_left(real(number_to_write(descriptor), bytes, count, flags));
}
CLUMP_HOST_API ssize_t sendfile(int to, int from, off_t* place, size_t count) noexcept {
  static constinit Hidden<ssize_t(int, int, off_t*, size_t)> real{"sendfile"};
  return real(number_to_write(to), kernel_number(from), place, count);
}
CLUMP_HOST_API ssize_t splice(int from, off64_t* from_place, int to, off64_t* to_place, size_t count,
                              unsigned flags) {
  static constinit Hidden<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)> real{"splice"};
  return real(kernel_number(from), from_place, number_to_write(to), to_place, count, flags);
}
CLUMP_HOST_API ssize_t tee(int from, int to, size_t count, unsigned flags) {
  static constinit Hidden<ssize_t(int, int, size_t, unsigned)> real{"tee"};
  return real(kernel_number(from), number_to_write(to), count, flags);
}
CLUMP_HOST_API ssize_t copy_file_range(int from, off64_t* from_place, int to, off64_t* to_place, size_t count,
                                       unsigned flags) {
  static constinit Hidden<ssize_t(int, off64_t*, int, off64_t*, size_t, unsigned)> real{"copy_file_range"};
  return real(kernel_number(from), from_place, number_to_write(to), to_place, count, flags);
}

// Files.

CLUMP_HOST_API off_t lseek(int descriptor, off_t offset, int whence) noexcept {
  static constinit Hidden<off_t(int, off_t, int)> real{"lseek"};
  return real(number_to_write(descriptor), offset, whence);
}
CLUMP_HOST_API int ftruncate(int descriptor, off_t bytes) noexcept {
  static constinit Hidden<int(int, off_t)> real{"ftruncate"};
  return real(number_to_write(descriptor), bytes);
}
CLUMP_HOST_API int fsync(int descriptor) {
  static constinit Hidden<int(int)> real{"fsync"};
  return real(number_to_write(descriptor));
}
CLUMP_HOST_API int fdatasync(int descriptor) {
  static constinit Hidden<int(int)> real{"fdatasync"};
  return real(number_to_write(descriptor));
}
CLUMP_HOST_API int fstat(int descriptor, struct stat* status) noexcept {
  static constinit Hidden<int(int, struct stat*)> real{"fstat"};
  return real(kernel_number(descriptor), status);
}
/// The function above, under the name that it had before glibc 2.33.
CLUMP_HOST_API int __fxstat(int version, int descriptor, struct stat* status) noexcept {
  static constinit Hidden<int(int, int, struct stat*)> real{"__fxstat"};
  return real(version, kernel_number(descriptor), status);
}
CLUMP_HOST_API int fstatat(int folder, const char* path, struct stat* status, int flags) noexcept {
  static constinit Hidden<int(int, const char*, struct stat*, int)> real{"fstatat"};
  return real(kernel_number(folder), path, status, flags);
}
CLUMP_HOST_API int statx(int folder, const char* path, int flags, unsigned mask,
                         struct statx* status) noexcept {
  static constinit Hidden<int(int, const char*, int, unsigned, struct statx*)> real{"statx"};
  return real(kernel_number(folder), path, flags, mask, status);
}
CLUMP_HOST_API int fstatvfs(int descriptor, struct statvfs* status) noexcept {
  static constinit Hidden<int(int, struct statvfs*)> real{"fstatvfs"};
  return real(kernel_number(descriptor), status);
}
CLUMP_HOST_API int fchmod(int descriptor, mode_t mode) noexcept {
  static constinit Hidden<int(int, mode_t)> real{"fchmod"};
  return real(kernel_number(descriptor), mode);
}
CLUMP_HOST_API int fchown(int descriptor, uid_t owner, gid_t group) noexcept {
  static constinit Hidden<int(int, uid_t, gid_t)> real{"fchown"};
  return real(kernel_number(descriptor), owner, group);
}
CLUMP_HOST_API int futimens(int descriptor, const timespec times[2]) noexcept {
  static constinit Hidden<int(int, const timespec*)> real{"futimens"};
  return real(kernel_number(descriptor), times);
}
CLUMP_HOST_API int posix_fallocate(int descriptor, off_t from, off_t bytes) {
  static constinit Hidden<int(int, off_t, off_t)> real{"posix_fallocate"};
  return real(kernel_number(descriptor), from, bytes);
}
CLUMP_HOST_API int posix_fadvise(int descriptor, off_t from, off_t bytes, int advice) noexcept {
  static constinit Hidden<int(int, off_t, off_t, int)> real{"posix_fadvise"};
  return real(kernel_number(descriptor), from, bytes, advice);
}
CLUMP_HOST_API long fpathconf(int descriptor, int name) noexcept {
  static constinit Hidden<long(int, int)> real{"fpathconf"};
  return real(kernel_number(descriptor), name);
}

// Terminals and devices.

CLUMP_HOST_API int ioctl(int descriptor, unsigned long request, ...) noexcept {
  static constinit Hidden<int(int, unsigned long, ...)> real{"ioctl"};
  va_list rest;
  va_start(rest, request);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return (*real)(kernel_number(descriptor), request, argument);
}
CLUMP_HOST_API int isatty(int descriptor) noexcept {
  static constinit Hidden<int(int)> real{"isatty"};
  return real(kernel_number(descriptor));
}
CLUMP_HOST_API int ttyname_r(int descriptor, char* name, size_t room) noexcept {
  static constinit Hidden<int(int, char*, size_t)> real{"ttyname_r"};
  return real(kernel_number(descriptor), name, room);
}
CLUMP_HOST_API int __ttyname_r_chk(int descriptor, char* name, size_t bytes, size_t room) noexcept {
  static constinit Hidden<int(int, char*, size_t, size_t)> real{"__ttyname_r_chk"};
  return real(kernel_number(descriptor), name, bytes, room);
}
CLUMP_HOST_API int tcgetattr(int descriptor, termios* settings) noexcept {
  static constinit Hidden<int(int, termios*)> real{"tcgetattr"};
  return real(kernel_number(descriptor), settings);
}
CLUMP_HOST_API int tcsetattr(int descriptor, int when, const termios* settings) noexcept {
  static constinit Hidden<int(int, int, const termios*)> real{"tcsetattr"};
  return real(number_to_write(descriptor), when, settings);
}
CLUMP_HOST_API int tcflush(int descriptor, int which) noexcept {
  static constinit Hidden<int(int, int)> real{"tcflush"};
  return real(kernel_number(descriptor), which);
}
CLUMP_HOST_API int tcdrain(int descriptor) {
  static constinit Hidden<int(int)> real{"tcdrain"};
  return real(number_to_write(descriptor));
}
CLUMP_HOST_API pid_t tcgetpgrp(int descriptor) noexcept {
  static constinit Hidden<pid_t(int)> real{"tcgetpgrp"};
  return real(kernel_number(descriptor));
}
CLUMP_HOST_API int tcsetpgrp(int descriptor, pid_t group) noexcept {
  static constinit Hidden<int(int, pid_t)> real{"tcsetpgrp"};
  return real(kernel_number(descriptor), group);
}

// Sockets.

CLUMP_HOST_API int getsockopt(int descriptor, int level, int name, void* value, socklen_t* bytes) noexcept {
  static constinit Hidden<int(int, int, int, void*, socklen_t*)> real{"getsockopt"};
  return real(kernel_number(descriptor), level, name, value, bytes);
}
CLUMP_HOST_API int shutdown(int descriptor, int how) noexcept {
  static constinit Hidden<int(int, int)> real{"shutdown"};
  return real(number_to_write(descriptor), how);
}
CLUMP_HOST_API int epoll_ctl(int set, int operation, int descriptor, epoll_event* event) noexcept {
  static constinit Hidden<int(int, int, int, epoll_event*)> real{"epoll_ctl"};
  return real(kernel_number(set), operation, kernel_number(descriptor), event);
}

}  // extern "C"
