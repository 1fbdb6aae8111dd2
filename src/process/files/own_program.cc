#include "process/files/own_program.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/memory_file.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/snapshot.h"
#include "process/ids.h"
#include "process/rank_state.h"
#include "process/signals/signals.h"

namespace clump::image {
namespace {

/// A file in the /proc folder of a rank of this process; `name` is null for other paths.
struct FileOfRank {
  const char* name = nullptr;
  const fiber::Identity* rank = nullptr;
};

FileOfRank file_of_rank(const char* path) {
  constexpr std::size_t kProc = 6;
  if (path == nullptr || std::strncmp(path, "/proc/", kProc) != 0) return {};
  path += kProc;
  for (const char* const name : {"self/", "thread-self/"})
    if (std::strncmp(path, name, std::strlen(name)) == 0)
      return {path + std::strlen(name), fiber::identity()};
  char* end = nullptr;
  const long number = *path >= '1' && *path <= '9' ? std::strtol(path, &end, 10) : 0;
  if (number <= 0 || number > INT_MAX || *end != '/') return {};
  const fiber::Identity* const rank = process_ids::rank_with(static_cast<pid_t>(number));
  return rank != nullptr ? FileOfRank{end + 1, rank} : FileOfRank{};
}

/// Makes a file with the arguments, as the kernel shows them; -1 if there can be none.
int write_arguments(const Image& image) {
  const int file = move_up(base::memory_file("cmdline"));
  for (int i = 0; file >= 0 && i < image.argc && image.argv[i] != nullptr; ++i)
    (void)!syscall(SYS_write, file, image.argv[i], std::strlen(image.argv[i]) + 1);
  return file;
}

/// The path of that file, which stays open until the process ends.
const char* path_of_arguments(Image& image) {
  SelfState& self = image.state().self;
  const signals::NoHandlers handlers_wait;  // open() comes here
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
  const auto [name, rank] = captured() ? file_of_rank(path) : FileOfRank{};
  if (name == nullptr) return path;
  Image& image = image_of(rank);
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
