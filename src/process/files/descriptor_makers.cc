// Functions with which the C library itself opens descriptors, and functions that close these: the
// descriptors belong to the calling rank (descriptor_owners.h).
#undef _FORTIFY_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mntent.h>
#include <mqueue.h>
#include <pty.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

using standard::place_lowest;

/// Notes the descriptors that came with a message.
void note_received(msghdr* message, const void* caller) {
  if (!captured() || message->msg_control == nullptr) return;
  for (cmsghdr* part = CMSG_FIRSTHDR(message); part != nullptr; part = CMSG_NXTHDR(message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    unsigned char* const all = CMSG_DATA(part);
    for (std::size_t at = 0; at + sizeof(int) <= part->cmsg_len - CMSG_LEN(0); at += sizeof(int)) {
      int descriptor = -1;
      std::memcpy(&descriptor, all + at, sizeof descriptor);
      descriptor = place_lowest(descriptor, caller);
      std::memcpy(all + at, &descriptor, sizeof descriptor);
    }
  }
}

DIR* keep_folder(DIR* folder, const void* caller) {
  static constinit Hidden<int(DIR*)> number_of{"dirfd"};
  if (folder != nullptr && captured() && !standard::in_child()) owners::note(number_of(folder), caller);
  return folder;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

// Temporary files.

CLUMP_HOST_API int mkstemp(char* name) {
  static constinit Hidden<int(char*)> real{"mkstemp"};
  return place_lowest(real(name), __builtin_return_address(0));
}
CLUMP_HOST_API int mkostemp(char* name, int flags) {
  static constinit Hidden<int(char*, int)> real{"mkostemp"};
  return place_lowest(real(name, flags), __builtin_return_address(0));
}
CLUMP_HOST_API int mkstemps(char* name, int suffix) {
  static constinit Hidden<int(char*, int)> real{"mkstemps"};
  return place_lowest(real(name, suffix), __builtin_return_address(0));
}
CLUMP_HOST_API int mkostemps(char* name, int suffix, int flags) {
  static constinit Hidden<int(char*, int, int)> real{"mkostemps"};
  return place_lowest(real(name, suffix, flags), __builtin_return_address(0));
}
CLUMP_HOST_API FILE* tmpfile() {
  static constinit Hidden<FILE*()> real{"tmpfile"};
  return standard::keep_stream(real(), __builtin_return_address(0));
}

// Folders, and the table of file systems.

CLUMP_HOST_API DIR* opendir(const char* path) {
  static constinit Hidden<DIR*(const char*)> real{"opendir"};
  return keep_folder(real(path), __builtin_return_address(0));
}
CLUMP_HOST_API int closedir(DIR* folder) {
  static constinit Hidden<int(DIR*)> real{"closedir"};
  static constinit Hidden<int(DIR*)> number_of{"dirfd"};
  if (captured()) owners::forget(number_of(folder));
  return real(folder);
}
CLUMP_HOST_API FILE* setmntent(const char* path, const char* mode) noexcept {
  static constinit Hidden<FILE*(const char*, const char*)> real{"setmntent"};
  return standard::keep_stream(real(path, mode), __builtin_return_address(0));
}
CLUMP_HOST_API int endmntent(FILE* table) noexcept {
  (void)fclose(table);
  return 1;
}

// Descriptors that are not files.

CLUMP_HOST_API int epoll_create(int size) noexcept {
  static constinit Hidden<int(int)> real{"epoll_create"};
  return place_lowest(real(size), __builtin_return_address(0));
}
CLUMP_HOST_API int epoll_create1(int flags) noexcept {
  static constinit Hidden<int(int)> real{"epoll_create1"};
  return place_lowest(real(flags), __builtin_return_address(0));
}
CLUMP_HOST_API int eventfd(unsigned count, int flags) noexcept {
  static constinit Hidden<int(unsigned, int)> real{"eventfd"};
  return place_lowest(real(count, flags), __builtin_return_address(0));
}
CLUMP_HOST_API int timerfd_create(__clockid_t clock, int flags) noexcept {
  static constinit Hidden<int(__clockid_t, int)> real{"timerfd_create"};
  return place_lowest(real(clock, flags), __builtin_return_address(0));
}
CLUMP_HOST_API int memfd_create(const char* name, unsigned flags) noexcept {
  static constinit Hidden<int(const char*, unsigned)> real{"memfd_create"};
  return place_lowest(real(name, flags), __builtin_return_address(0));
}
CLUMP_HOST_API int shm_open(const char* name, int flags, mode_t mode) {
  static constinit Hidden<int(const char*, int, mode_t)> real{"shm_open"};
  return place_lowest(real(name, flags, mode), __builtin_return_address(0));
}
CLUMP_HOST_API int inotify_init() noexcept {
  static constinit Hidden<int()> real{"inotify_init"};
  return place_lowest(real(), __builtin_return_address(0));
}
CLUMP_HOST_API int inotify_init1(int flags) noexcept {
  static constinit Hidden<int(int)> real{"inotify_init1"};
  return place_lowest(real(flags), __builtin_return_address(0));
}
CLUMP_HOST_API int fanotify_init(unsigned flags, unsigned of_events) noexcept {
  static constinit Hidden<int(unsigned, unsigned)> real{"fanotify_init"};
  return place_lowest(real(flags, of_events), __builtin_return_address(0));
}
CLUMP_HOST_API int pidfd_getfd(int process, int descriptor, unsigned flags) noexcept {
  static constinit Hidden<int(int, int, unsigned)> real{"pidfd_getfd"};
  return place_lowest(real(process, descriptor, flags), __builtin_return_address(0));
}
CLUMP_HOST_API int open_by_handle_at(int file_system, file_handle* handle, int flags) {
  static constinit Hidden<int(int, file_handle*, int)> real{"open_by_handle_at"};
  return place_lowest(real(standard::kernel_number(file_system), handle, flags), __builtin_return_address(0));
}

// Terminals.

CLUMP_HOST_API int posix_openpt(int flags) {
  static constinit Hidden<int(int)> real{"posix_openpt"};
  return place_lowest(real(flags), __builtin_return_address(0));
}
CLUMP_HOST_API int getpt() {
  static constinit Hidden<int()> real{"getpt"};
  return place_lowest(real(), __builtin_return_address(0));
}
CLUMP_HOST_API int openpty(int* master, int* slave, char* name, const termios* settings,
                           const winsize* size) noexcept {
  static constinit Hidden<int(int*, int*, char*, const termios*, const winsize*)> real{"openpty"};
  const int result = real(master, slave, name, settings, size);
  if (result != 0) return result;
  *master = place_lowest(*master, __builtin_return_address(0));
  *slave = place_lowest(*slave, __builtin_return_address(0));
  return 0;
}

// Messages.

CLUMP_HOST_API ssize_t recvmsg(int descriptor, msghdr* message, int flags) {
  static constinit Hidden<ssize_t(int, msghdr*, int)> real{"recvmsg"};
  const ssize_t result = left_behind::unless_left(real(standard::kernel_number(descriptor), message, flags));
  if (result >= 0) note_received(message, __builtin_return_address(0));
  return result;
}
CLUMP_HOST_API int recvmmsg(int descriptor, mmsghdr* messages, unsigned count, int flags, timespec* time) {
  static constinit Hidden<int(int, mmsghdr*, unsigned, int, timespec*)> real{"recvmmsg"};
  const int result =
      left_behind::unless_left(real(standard::kernel_number(descriptor), messages, count, flags, time));
  for (int i = 0; i < result; ++i) note_received(&messages[i].msg_hdr, __builtin_return_address(0));
  return result;
}
CLUMP_HOST_API mqd_t mq_open(const char* name, int flags, ...) noexcept {
  static constinit Hidden<mqd_t(const char*, int, ...)> real{"mq_open"};
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  mq_attr* const attributes = (flags & O_CREAT) != 0 ? va_arg(rest, mq_attr*) : nullptr;
  va_end(rest);
  return place_lowest((*real)(name, flags, mode, attributes), __builtin_return_address(0));
}
CLUMP_HOST_API int mq_close(mqd_t queue) noexcept {
  static constinit Hidden<int(mqd_t)> real{"mq_close"};
  if (captured()) owners::forget(queue);
  return real(queue);
}

}  // extern "C"
