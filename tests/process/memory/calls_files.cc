// Files, descriptors, streams and terminals: descriptors and files that there are none of.
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <termios.h>
#include <unistd.h>

#include "calls.h"

// What some of them become with -D_FORTIFY_SOURCE, and names that no header has any more.
extern "C" {
int __dprintf_chk(int, int, const char*, ...);
int __fxstat(int, int, struct stat*);
int __open_2(const char*, int);
int __openat_2(int, const char*, int);
int __poll_chk(pollfd*, nfds_t, int, size_t);
int __ppoll_chk(pollfd*, nfds_t, const timespec*, const sigset_t*, size_t);
ssize_t __read_chk(int, void*, size_t, size_t);
ssize_t __readlink_chk(const char*, char*, size_t, size_t);
ssize_t __readlinkat_chk(int, const char*, char*, size_t, size_t);
char* __realpath_chk(const char*, char*, size_t);
int __vdprintf_chk(int, int, const char*, va_list);
}

namespace calls {
namespace {

char room[4096];
iovec no_part{room, 0};
struct stat status;
struct statvfs file_system;
struct statx status_x;
termios settings;
epoll_event event;
socklen_t size = sizeof room;
const timespec no_time{0, 0};
timeval no_time_too{0, 0};
int ends[2];

void close_both(int result) {
  if (result != 0) return;
  syscall(SYS_close, ends[0]);
  syscall(SYS_close, ends[1]);
}

int print(int (*function)(int, const char*, va_list), const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = function(kNone, format, arguments);
  va_end(arguments);
  return length;
}
int vdprintf_checked(int descriptor, const char* format, va_list arguments) {
  return __vdprintf_chk(descriptor, 1, format, arguments);
}

void map(void* (*function)(void*, size_t, int, int, int, off_t)) {
  void* const pages = function(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages != MAP_FAILED) syscall(SYS_munmap, pages, 1);
}

const Row kRows[] = {
    // Made, duplicated, closed.
    {"open", [] { open(kNoFile, O_RDONLY); }},
    {"openat", [] { openat(kNone, kNoFile, O_RDONLY); }},
    {"__open_2", [] { __open_2(kNoFile, O_RDONLY); }},
    {"__openat_2", [] { __openat_2(kNone, kNoFile, O_RDONLY); }},
    {"creat", [] { creat(kNoFile, 0); }},
    {"shm_open", [] { shm_open("/no-such-memory", O_RDONLY, 0); }},
    {"shm_unlink", [] { shm_unlink("/no-such-memory"); }},
    {"socket", [] { socket(-1, 0, 0); }},
    {"socketpair", [] { socketpair(-1, 0, 0, ends); }},
    {"accept", [] { accept(kNone, nullptr, nullptr); }},
    {"accept4", [] { accept4(kNone, nullptr, nullptr, 0); }},
    {"pipe", [] { close_both(pipe(ends)); }},
    {"pipe2", [] { close_both(pipe2(ends, O_CLOEXEC)); }},
    {"dup", [] { (void)!dup(kNone); }},
    {"dup2", [] { dup2(kNone, kNone); }},
    {"dup3", [] { dup3(kNone, kNone, 0); }},
    {"close", [] { close(kNone); }},
    {"close_range", [] { close_range(~0U, ~0U, 0); }},
    {"closefrom", [] { closefrom(0x7fffffff); }},
    // Read, written, waited for.
    {"read", [] { (void)!read(kNone, room, 0); }},
    {"__read_chk", [] { (void)!__read_chk(kNone, room, 0, sizeof room); }},
    {"readv", [] { (void)!readv(kNone, &no_part, 1); }},
    {"pread", [] { (void)!pread(kNone, room, 0, 0); }},
    {"recv", [] { recv(kNone, room, 0, 0); }},
    {"recvfrom", [] { recvfrom(kNone, room, 0, 0, nullptr, nullptr); }},
    {"write", [] { (void)!write(kNone, "", 0); }},
    {"writev", [] { (void)!writev(kNone, &no_part, 1); }},
    {"pwrite", [] { (void)!pwrite(kNone, "", 0, 0); }},
    {"send", [] { send(kNone, "", 0, 0); }},
    {"sendfile", [] { sendfile(kNone, kNone, nullptr, 0); }},
    {"copy_file_range", [] { (void)!copy_file_range(kNone, nullptr, kNone, nullptr, 0, 0); }},
    {"splice", [] { splice(kNone, nullptr, kNone, nullptr, 0, 0); }},
    {"tee", [] { tee(kNone, kNone, 0, 0); }},
    {"dprintf", [] { dprintf(kNone, "%d", 1); }},
    {"vdprintf", [] { print(vdprintf, "%d", 1); }},
    {"__dprintf_chk", [] { __dprintf_chk(kNone, 1, "%d", 1); }},
    {"__vdprintf_chk", [] { print(vdprintf_checked, "%d", 1); }},
    {"poll", [] { poll(nullptr, 0, 0); }},
    {"__poll_chk", [] { __poll_chk(nullptr, 0, 0, 0); }},
    {"ppoll", [] { ppoll(nullptr, 0, &no_time, nullptr); }},
    {"__ppoll_chk", [] { __ppoll_chk(nullptr, 0, &no_time, nullptr, 0); }},
    {"select", [] { select(0, nullptr, nullptr, nullptr, &no_time_too); }},
    {"pselect", [] { pselect(0, nullptr, nullptr, nullptr, &no_time, nullptr); }},
    {"epoll_ctl", [] { epoll_ctl(kNone, EPOLL_CTL_ADD, kNone, &event); }},
    {"epoll_wait", [] { epoll_wait(kNone, &event, 1, 0); }},
    {"epoll_pwait", [] { epoll_pwait(kNone, &event, 1, 0, nullptr); }},
    {"epoll_pwait2", [] { epoll_pwait2(kNone, &event, 1, &no_time, nullptr); }},
    // Asked about and changed.
    {"fcntl", [] { fcntl(kNone, F_GETFD); }},
    {"ioctl", [] { ioctl(kNone, FIONREAD, room); }},
    {"flock", [] { flock(kNone, LOCK_UN); }},
    {"lockf", [] { (void)!lockf(kNone, F_TEST, 0); }},
    {"lseek", [] { lseek(kNone, 0, SEEK_CUR); }},
    {"fchmod", [] { fchmod(kNone, 0); }},
    {"fchown", [] { (void)!fchown(kNone, 0, 0); }},
    {"fsync", [] { fsync(kNone); }},
    {"fdatasync", [] { fdatasync(kNone); }},
    {"ftruncate", [] { (void)!ftruncate(kNone, 0); }},
    {"futimens", [] { futimens(kNone, nullptr); }},
    {"posix_fadvise", [] { posix_fadvise(kNone, 0, 0, POSIX_FADV_NORMAL); }},
    {"posix_fallocate", [] { posix_fallocate(kNone, 0, 1); }},
    {"fpathconf", [] { fpathconf(kNone, _PC_PIPE_BUF); }},
    {"fstat", [] { fstat(kNone, &status); }},
    {"__fxstat", [] { __fxstat(1, kNone, &status); }},
    {"fstatat", [] { fstatat(kNone, kNoFile, &status, 0); }},
    {"fstatvfs", [] { fstatvfs(kNone, &file_system); }},
    {"stat", [] { stat(kNoFile, &status); }},
    {"statx", [] { statx(kNone, kNoFile, 0, STATX_SIZE, &status_x); }},
    {"readlink", [] { (void)!readlink(kNoFile, room, sizeof room); }},
    {"readlinkat", [] { (void)!readlinkat(kNone, kNoFile, room, sizeof room); }},
    {"__readlink_chk", [] { (void)!__readlink_chk(kNoFile, room, sizeof room, sizeof room); }},
    {"__readlinkat_chk", [] { (void)!__readlinkat_chk(kNone, kNoFile, room, sizeof room, sizeof room); }},
    {"realpath", [] { (void)!realpath(kNoFile, room); }},
    {"__realpath_chk", [] { (void)!__realpath_chk(kNoFile, room, sizeof room); }},
    {"canonicalize_file_name", [] { (void)!canonicalize_file_name(kNoFile); }},
    {"getsockopt", [] { getsockopt(kNone, SOL_SOCKET, SO_ERROR, room, &size); }},
    {"shutdown", [] { shutdown(kNone, SHUT_RD); }},
    {"mmap", [] { map(mmap); }},
    {"chdir", [] { (void)!chdir("."); }},
    {"fchdir", [] { (void)!fchdir(kNone); }},
    {"umask", [] { umask(umask(022)); }},
    // Terminals.
    {"isatty", [] { isatty(kNone); }},
    {"ttyname", [] { ttyname(kNone); }},
    {"ttyname_r", [] { (void)!ttyname_r(kNone, room, sizeof room); }},
    {"ptsname", [] { ptsname(kNone); }},
    {"tcgetattr", [] { tcgetattr(kNone, &settings); }},
    {"tcsetattr", [] { tcsetattr(kNone, TCSANOW, &settings); }},
    {"tcgetpgrp", [] { tcgetpgrp(kNone); }},
    {"tcsetpgrp", [] { tcsetpgrp(kNone, 1); }},
    {"tcdrain", [] { tcdrain(kNone); }},
    {"tcflush", [] { tcflush(kNone, TCIFLUSH); }},
    // Streams.
    {"fopen", [] { (void)!fopen(kNoFile, "r"); }},
    {"fdopen", [] { (void)!fdopen(kNone, "r"); }},
    {"fileno", [] { (void)fileno(stdout); }},
    {"fflush", [] { (void)fflush(stderr); }},
    {"ferror", [] { (void)ferror(stderr); }},
    {"clearerr", [] { clearerr(stderr); }},
    {"clearerr_unlocked", [] { clearerr_unlocked(stderr); }},
    {"setvbuf", nullptr, kFile},
    {"setbuf", nullptr, kFile},
    {"setbuffer", nullptr, kFile},
    {"setlinebuf", nullptr, kFile},
    {"freopen", nullptr, kFile},
    {"fclose", nullptr, kFile},
    {"fwide", nullptr, kFile},
    {"fputwc", nullptr, kFile},
    {"fputwc_unlocked", nullptr, kFile},
    {"putwc", nullptr, kFile},
    {"putwc_unlocked", nullptr, kFile},
    {"putwchar", nullptr, kFile},
    {"putwchar_unlocked", nullptr, kFile},
    {"fputws", nullptr, kFile},
    {"fputws_unlocked", nullptr, kFile},
    {"vfwprintf", nullptr, kFile},
    {"vwprintf", nullptr, kFile},
    {"fwprintf", nullptr, kFile},
    {"wprintf", nullptr, kFile},
    {"__vfwprintf_chk", nullptr, kFile},
    {"__vwprintf_chk", nullptr, kFile},
    {"__fwprintf_chk", nullptr, kFile},
    {"__wprintf_chk", nullptr, kFile},
    {"__fpending", nullptr, kFile},
    {"__fpurge", nullptr, kFile},
    {"getchar", nullptr, kReads},
    {"getchar_unlocked", nullptr, kReads},
    {"getwchar", nullptr, kReads},
    {"scanf", nullptr, kReads},
    {"vscanf", nullptr, kReads},
    {"__isoc99_scanf", nullptr, kReads},
    {"__isoc99_vscanf", nullptr, kReads},
    {"__isoc23_scanf", nullptr, kReads},
    {"__isoc23_vscanf", nullptr, kReads},
    {"wscanf", nullptr, kReads},
    {"vwscanf", nullptr, kReads},
    {"__isoc99_wscanf", nullptr, kReads},
    {"__isoc99_vwscanf", nullptr, kReads},
    {"__isoc23_wscanf", nullptr, kReads},
    {"__isoc23_vwscanf", nullptr, kReads},
    {"getwchar_unlocked", nullptr, kReads},
    {"__pread_chk", nullptr, kSame},
    {"__recv_chk", nullptr, kSame},
    {"__recvfrom_chk", nullptr, kSame},
    {"__ttyname_r_chk", nullptr, kSame},
};

}  // namespace

std::span<const Row> of_files() { return kRows; }

}  // namespace calls
