#include "base/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <initializer_list>

#include "base/environment.h"
#include "base/process.h"

namespace clump::base {

namespace {

/// A folder with so much room is good enough, and the first such one is taken.
constexpr unsigned long long kPlenty = 1ULL << 30;

/// What can be written into the folder; 0 if code cannot be mapped from its files, but has to be.
unsigned long long room_in(const char* folder, bool for_code) {
  struct statvfs info {};
  if (::statvfs(folder, &info) != 0 || (for_code && (info.f_flag & ST_NOEXEC) != 0)) return 0;
  return static_cast<unsigned long long>(info.f_bavail) * info.f_frsize;
}

/// In maps it looks like a file of memfd_create.
int file_in(const char* folder, const char* name) {
  char path[PATH_MAX];
  const int length = std::snprintf(path, sizeof path, "%s/memfd:%s.XXXXXX", folder, name);
  if (length < 0 || static_cast<std::size_t>(length) >= sizeof path) return -1;
  const int file = ::mkostemp(path, O_CLOEXEC);
  if (file >= 0) ::unlink(path);
  return file;
}

int unnamed_file(const char* name, bool for_code) {
  const char* const chosen = variable("TMPDIR");
  const char* best = nullptr;
  unsigned long long most = 0;
  for (const char* const folder : {"/dev/shm", chosen, "/tmp"}) {
    if (folder == nullptr || most >= kPlenty || ::access(folder, W_OK | X_OK) != 0) continue;
    const unsigned long long room = room_in(folder, for_code);
    if (room <= most) continue;
    best = folder;
    most = room;
  }
  return best != nullptr ? file_in(best, name) : -1;
}

bool is_same(const struct stat& info, const OpenFile& there) {
  return static_cast<std::int64_t>(info.st_dev) == there.device &&
         static_cast<std::int64_t>(info.st_ino) == there.inode;
}

}  // namespace

int memory_file(const char* name, bool for_code) {
  const int made = ::memfd_create(name, MFD_CLOEXEC);
  if (made >= 0 || (errno != ENOSYS && errno != EPERM && errno != EACCES)) return made;
  const int error = errno;
  const int file = unnamed_file(name, for_code);
  if (file < 0) errno = error;
  return file;
}

OpenFile describe_open_file(int descriptor) {
  struct stat info {};
  const bool is_known = ::fstat(descriptor, &info) == 0;
  return {process_id(), descriptor, is_known ? static_cast<std::int64_t>(info.st_dev) : -1,
          is_known ? static_cast<std::int64_t>(info.st_ino) : -1};
}

int open_file_of(const OpenFile& there) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%lld/fd/%lld", static_cast<long long>(there.process),
                static_cast<long long>(there.descriptor));
  struct stat info {};
  if (::stat(path, &info) == 0) {
    // Not opened for a look: it may be another process's, and a pipe or a device.
    const int file = is_same(info, there) ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0) return file;
    if (!is_same(info, there)) errno = ESRCH;
  }
  const int error = errno;
  // Where /proc is that of another PID namespace, or there is none.
  const auto process = static_cast<int>(::syscall(SYS_pidfd_open, there.process, 0));
  const int file =
      process < 0 ? -1 : static_cast<int>(::syscall(SYS_pidfd_getfd, process, there.descriptor, 0));
  if (process >= 0) ::close(process);
  if (file >= 0 && ::fstat(file, &info) == 0 && is_same(info, there)) return file;
  if (file >= 0) ::close(file);
  errno = error;
  return -1;
}

bool set_size(int file, std::size_t bytes) {
  // The system calls, as a rank's signals are not the thread's.
  constexpr std::uint64_t kSignal = std::uint64_t{1} << (SIGXFSZ - 1);
  constexpr timespec kNow{};
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, &kSignal, &before, sizeof before);
  const bool is_done = ::ftruncate(file, static_cast<off_t>(bytes)) == 0;
  const int error = errno;
  const bool is_raised = !is_done && error == EFBIG && (before & kSignal) == 0;
  if (is_raised) ::syscall(SYS_rt_sigtimedwait, &kSignal, nullptr, &kNow, sizeof kSignal);
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, nullptr, sizeof before);
  errno = error;
  return is_done;
}

}  // namespace clump::base
