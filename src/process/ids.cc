#include "process/ids.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/process.h"
#include "image/rank_image.h"
#include "process/signals/state.h"

namespace clump::image::process_ids {
namespace {

/// The number that follows `key` in the file /proc/<folder><number><file>; negative if there is none. Does
/// not use the C library's functions for files, which are not for signal handlers. Keeps errno.
pid_t number_in(const char* folder, int number, const char* file, const char* key) noexcept {
  if (number < 0) return -1;
  const int error = errno;
  char path[64] = "/proc/";
  char digits[12];
  char* first = digits + sizeof digits;
  *--first = '\0';
  for (int rest = number; *first == '\0' || rest > 0; rest /= 10)
    *--first = static_cast<char>('0' + rest % 10);
  std::strcat(std::strcat(std::strcat(path, folder), first), file);
  char text[512];
  const int opened = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC));
  const long bytes = opened >= 0 ? ::syscall(SYS_read, opened, text, sizeof text - 1) : -1;
  if (opened >= 0) ::syscall(SYS_close, opened);
  errno = error;
  text[bytes > 0 ? bytes : 0] = '\0';
  const char* const found = std::strstr(text, key);
  return found != nullptr ? std::atoi(found + std::strlen(key)) : -1;
}

/// The process that the ranks share; 0 in a plain process.
pid_t shared_process() noexcept {
  const signals::Runtime& runtime = signals::runtime();
  return signals::rank_count() > 0 ? of(runtime.any_rank(0)) : 0;
}

}  // namespace

pid_t of(const fiber::Identity& rank) noexcept { return signals::runtime().kernel_thread(rank); }

pid_t mine() noexcept {
  const pid_t process = base::process_id();
  return process == shared_process() ? for_rank(process) : process;
}

fiber::Identity* rank_with(pid_t id) noexcept {
  const signals::Runtime& runtime = signals::runtime();
  for (int i = 0; i < signals::rank_count() && id > 0; ++i)
    if (of(runtime.any_rank(i)) == id) return &runtime.any_rank(i);
  return nullptr;
}

pid_t for_kernel(pid_t id) noexcept { return rank_with(id) != nullptr ? shared_process() : id; }

pid_t for_rank(pid_t process) noexcept {
  const fiber::Identity* const rank = fiber::identity();
  const pid_t mine = rank != nullptr && process == shared_process() ? of(*rank) : 0;
  return mine != 0 ? mine : process;
}

pid_t process_of(pid_t thread) noexcept { return number_in("", thread, "/status", "\nTgid:"); }

pid_t parent_of(pid_t process) noexcept { return number_in("", process, "/status", "\nPPid:"); }

pid_t behind(int descriptor) noexcept { return number_in("self/fdinfo/", descriptor, "", "\nPid:"); }

}  // namespace clump::image::process_ids
