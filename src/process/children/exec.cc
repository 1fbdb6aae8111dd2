// exec() and the related functions. In a rank they start its successor (successor.h). In a child that a rank
// has forked they are the C library's own, and nothing here allocates then, as the child of vfork() has its
// parent's memory. If no environment is given, it is the rank's; programs are searched for by the rank's
// PATH. What a process executes before it is a rank keeps Clump's libraries (kept_preloads.h).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <alloca.h>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/children/kept_preloads.h"
#include "process/children/spawn.h"
#include "process/children/successor.h"
#include "process/files/own_program.h"
#include "process/files/standard.h"

namespace clump::image {
namespace {

char** rank_environment() { return *current_image().variable(&environ); }

int execute(const char* path, char* const* arguments, char* const* environment) {
  static constinit Hidden<int(const char*, char* const*, char* const*)> real{"execve"};
  path = path_for_rank(path);
  if (records_children()) return replace_rank(path, arguments, environment);
  standard::go_home_for_exec();
  prepare_child_for_exec();
  const std::size_t room = room_for_rank(environment);
  if (room != 0) environment = environment_for_rank(environment, alloca(room));
  return real(path, arguments, environment);
}

/// Executes a file; if the kernel does not know its format, by the shell.
int execute_or_interpret(const char* path, char* const* arguments, char* const* environment) {
  execute(path, arguments, environment);
  if (errno != ENOEXEC) return -1;
  std::size_t count = 0;
  while (arguments[count] != nullptr) ++count;
  auto** const words = static_cast<char**>(alloca((count + 2) * sizeof(char*)));
  words[0] = const_cast<char*>("/bin/sh");
  words[1] = const_cast<char*>(path);
  for (std::size_t i = 1; i <= count; ++i) words[i + 1] = arguments[i];
  if (count == 0) words[2] = nullptr;
  return execute("/bin/sh", words, environment);
}

/// Whether the search goes on in the next folder after this error.
bool is_elsewhere(int error) {
  return error == EACCES || error == ENOENT || error == ESTALE || error == ENOTDIR || error == ENODEV ||
         error == ETIMEDOUT;
}

/// Searches by the rank's PATH and executes, as execvp() does.
int search(const char* file, char* const* arguments, char* const* environment) {
  if (*file == '\0') return errno = ENOENT, -1;
  if (std::strchr(file, '/') != nullptr) return execute_or_interpret(file, arguments, environment);
  const char* folders = std::getenv("PATH");
  if (folders == nullptr) folders = "/bin:/usr/bin";
  const std::size_t length = std::strlen(file);
  if (length > NAME_MAX) return errno = ENAMETOOLONG, -1;
  bool was_forbidden = false;
  char path[PATH_MAX];
  for (const char* from = folders;; ++from) {
    const char* const to = strchrnul(from, ':');
    const auto bytes = static_cast<std::size_t>(to - from);
    if (bytes + length + 2 <= sizeof path) {
      std::memcpy(path, from, bytes);
      if (bytes > 0) path[bytes] = '/';
      std::memcpy(path + bytes + (bytes > 0 ? 1 : 0), file, length + 1);
      if (access(path, F_OK) == 0) execute_or_interpret(path, arguments, environment);
      if (!is_elsewhere(errno)) return -1;
      was_forbidden = was_forbidden || errno == EACCES;
    }
    if (*(from = to) == '\0') break;
  }
  errno = was_forbidden ? EACCES : ENOENT;
  return -1;
}

/// How many arguments follow the first one. `rest` then is behind the null that ends them.
std::size_t count(va_list& rest) {
  std::size_t number = 0;
  while (va_arg(rest, char*) != nullptr) ++number;
  return number;
}

/// Collects the arguments of execl() and the related functions in an array, with the null. The caller gives
/// the memory, because alloca() has to be called in the function that uses it.
void collect(char** words, const char* first, va_list& rest) {
  *words = const_cast<char*>(first);
  while (*words != nullptr) *++words = va_arg(rest, char*);
}

std::size_t bytes_of(const char* first, va_list& rest) {
  return (first == nullptr ? 1 : count(rest) + 2) * sizeof(char*);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int execve(const char* path, char* const* arguments, char* const* environment) noexcept {
  return execute(path, arguments, environment);
}

CLUMP_HOST_API int execv(const char* path, char* const* arguments) noexcept {
  return execute(path, arguments, rank_environment());
}

CLUMP_HOST_API int execvpe(const char* file, char* const* arguments, char* const* environment) noexcept {
  return search(file, arguments, environment);
}

CLUMP_HOST_API int execvp(const char* file, char* const* arguments) noexcept {
  return search(file, arguments, rank_environment());
}

CLUMP_HOST_API int execl(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  auto** const words = static_cast<char**>(alloca(bytes_of(first, rest)));
  va_end(rest);
  va_start(rest, first);
  collect(words, first, rest);
  va_end(rest);
  return execute(path, words, rank_environment());
}

CLUMP_HOST_API int execlp(const char* file, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  auto** const words = static_cast<char**>(alloca(bytes_of(first, rest)));
  va_end(rest);
  va_start(rest, first);
  collect(words, first, rest);
  va_end(rest);
  return search(file, words, rank_environment());
}

CLUMP_HOST_API int execle(const char* path, const char* first, ...) noexcept {
  va_list rest;
  va_start(rest, first);
  auto** const words = static_cast<char**>(alloca(bytes_of(first, rest)));
  va_end(rest);
  va_start(rest, first);
  collect(words, first, rest);
  auto** const environment = va_arg(rest, char**);
  va_end(rest);
  return execute(path, words, environment);
}

CLUMP_HOST_API int execveat(int folder, const char* path, char* const* arguments, char* const* environment,
                            int flags) noexcept {
  static constinit Hidden<int(int, const char*, char* const*, char* const*, int)> real{"execveat"};
  constexpr int kKnown = AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW;
  if (!records_children() || (flags & ~kKnown) != 0) {
    prepare_child_for_exec();
    const std::size_t room = room_for_rank(environment);
    if (room != 0) environment = environment_for_rank(environment, alloca(room));
    return real(folder, path, arguments, environment, flags);
  }
  char whole[PATH_MAX + 32];
  struct stat info {};
  if (*path == '\0') {
    if ((flags & AT_EMPTY_PATH) == 0) return errno = ENOENT, -1;
    if (fcntl(folder, F_GETFD) < 0) return -1;
    std::snprintf(whole, sizeof whole, "/proc/self/fd/%d", folder);
    return execute(whole, arguments, environment);
  }
  if ((flags & AT_SYMLINK_NOFOLLOW) != 0 && fstatat(folder, path, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISLNK(info.st_mode))
    return errno = ELOOP, -1;
  if (*path == '/' || folder == AT_FDCWD) return execute(path, arguments, environment);
  if (fstat(folder, &info) != 0) return -1;
  if (!S_ISDIR(info.st_mode)) return errno = ENOTDIR, -1;
  std::snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", folder, path);
  return execute(whole, arguments, environment);
}

CLUMP_HOST_API int fexecve(int program, char* const* arguments, char* const* environment) noexcept {
  static constinit Hidden<int(int, char* const*, char* const*)> real{"fexecve"};
  if (!records_children() || program < 0) {
    prepare_child_for_exec();
    const std::size_t room = room_for_rank(environment);
    if (room != 0) environment = environment_for_rank(environment, alloca(room));
    return real(program, arguments, environment);
  }
  return execveat(program, "", arguments, environment, AT_EMPTY_PATH);
}

}  // extern "C"
