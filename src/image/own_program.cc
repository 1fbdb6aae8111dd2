#include "image/own_program.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "image/objects.h"
#include "image/rank_image.h"
#include "image/snapshot.h"

namespace clump::image {
namespace {

/// What follows "/proc/self/" or another name of the process's folder; null for other paths.
const char* in_own_folder(const char* path) {
  constexpr std::size_t kProc = 6;
  if (path == nullptr || std::strncmp(path, "/proc/", kProc) != 0) return nullptr;
  path += kProc;
  for (const char* const name : {"self/", "thread-self/"})
    if (std::strncmp(path, name, std::strlen(name)) == 0) return path + std::strlen(name);
  char* end = nullptr;
  const bool is_number = *path >= '1' && *path <= '9';
  const long number = is_number ? std::strtol(path, &end, 10) : 0;
  return is_number && *end == '/' && number == syscall(SYS_getpid) ? end + 1 : nullptr;
}

/// A file with the arguments as the kernel shows them; -1 if there can be none.
int write_arguments(const Image& image) {
  const int file = move_up(memfd_create("cmdline", MFD_CLOEXEC));
  for (int i = 0; file >= 0 && i < image.argc && image.argv[i] != nullptr; ++i)
    (void)!syscall(SYS_write, file, image.argv[i], std::strlen(image.argv[i]) + 1);
  return file;
}

/// The path of that file. It stays open as long as the process.
const char* path_of_arguments(Image& image) {
  SelfState& self = image.libc().self;
  const std::scoped_lock lock(self.lock);
  if (self.arguments[0] == '\0') {
    const int file = write_arguments(image);
    if (file < 0) return nullptr;
    std::snprintf(self.arguments, sizeof self.arguments, "/proc/self/fd/%d", file);
  }
  return self.arguments;
}

}  // namespace

const char* path_for_rank(const char* path) {
  const int error = errno;
  const char* const name = captured() ? in_own_folder(path) : nullptr;
  if (name == nullptr) return path;
  Image& image = current_image();
  if (image.native() || image.program == nullptr) return path;
  const char* found = nullptr;
  if (std::strcmp(name, "exe") == 0 && image.program->is_other())
    found = image.program->main->path.c_str();
  else if (std::strcmp(name, "cmdline") == 0 && image.argv != nullptr)
    found = path_of_arguments(image);
  errno = error;
  return found != nullptr ? found : path;
}

}  // namespace clump::image
