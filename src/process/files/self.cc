// Functions that look at a file by its path, or ask for the program: a rank finds its own program
// (own_program.h). open() and the related functions are in files/descriptors.cc, exec() is in
// children/exec.cc.
#undef _FORTIFY_SOURCE
#include <limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/types.h"
#include "image/image.h"
#include "image/instance.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "inspect/arch.h"
#include "process/files/own_program.h"
#include "process/files/standard.h"
#include "process/ids.h"

namespace clump::image {
namespace {

using Resolve = char*(const char*, char*);

constinit Hidden<Resolve> real_realpath{"realpath"};

ssize_t copy_link(const char* link, char* text, std::size_t room) {
  const std::size_t length = std::min(std::strlen(link), room);
  std::memcpy(text, link, length);
  return static_cast<ssize_t>(length);
}

/// The result of readlink() for the program's link. The file with the other path is no link itself.
ssize_t read_link_to(const char* file, char* text, std::size_t room) {
  char path[PATH_MAX];
  if (real_realpath(file, static_cast<char*>(path)) == nullptr) return -1;
  return copy_link(static_cast<const char*>(path), text, room);
}

bool is_program(const char* path, const char* own) {
  return own != path && std::strcmp(std::strrchr(path, '/'), "/exe") == 0;
}

/// The path that `path` stands for when the calling rank uses it: a file of its program, what it has as one
/// of the descriptors 0, 1 and 2, or the folder to which "/proc/self" is a link.
class PathOfRank {
 public:
  explicit PathOfRank(const char* path) : path_(path_for_rank(path)) {
    if (!captured() || path == nullptr || path_ != path) return;
    is_self_ = std::strcmp(path, "/proc/self") == 0;
    const int number = standard::named_by(path);
    if (is_self_)
      std::snprintf(room_, sizeof room_, "/proc/%d", process_ids::mine());
    else if (number >= 0 && standard::kernel_number(number) != number)
      std::snprintf(room_, sizeof room_, "/proc/self/fd/%d", standard::kernel_number(number));
    else
      return;
    path_ = room_;
  }
  PathOfRank(const PathOfRank&) = delete;
  PathOfRank& operator=(const PathOfRank&) = delete;

  const char* get() const { return path_; }
  /// The result of readlink() for it, if it is /proc/self; null otherwise.
  const char* text_of_link() const { return is_self_ ? room_ + std::strlen("/proc/") : nullptr; }

 private:
  const char* path_;
  bool is_self_ = false;
  char room_[32];
};

/// Whether it is /dev/stdin, /dev/stdout or /dev/stderr: each is a link to /proc/self/fd/N for every rank,
/// and that link leads to a different file for each.
bool is_link_to_link(const char* path) { return path != nullptr && std::strncmp(path, "/dev/std", 8) == 0; }

/// The address of the program headers of the rank's program.
unsigned long headers_of(const Image& image) {
  const std::uintptr_t original = image.program->main->dynamic.base;
  return image.translate(original) + reinterpret_cast<const ElfW(Ehdr)*>(original)->e_phoff;
}

bool has_other_program(const Image& image) {
  return !image.native() && image.program != nullptr && image.program->is_other();
}

const ElfW(auxv_t) * vector_of_process = nullptr;  // set before there are ranks

}  // namespace

void note_auxiliary_vector(char** environment) {
  while (*environment != nullptr) ++environment;
  vector_of_process = reinterpret_cast<const ElfW(auxv_t)*>(environment + 1);
}

std::vector<ElfW(auxv_t)> auxiliary_vector_of(const Image& image) {
  std::vector<ElfW(auxv_t)> all;
  for (const auto* entry = vector_of_process; entry != nullptr && entry->a_type != AT_NULL; ++entry) {
    all.push_back(*entry);
    unsigned long& value = all.back().a_un.a_val;
    if (image.native() || image.program == nullptr) continue;
    const std::uintptr_t original = image.program->main->dynamic.base;
    if (entry->a_type == AT_PHDR) value = headers_of(image);
    if (entry->a_type == AT_PHNUM) value = reinterpret_cast<const ElfW(Ehdr)*>(original)->e_phnum;
    if (entry->a_type == AT_ENTRY) value = image.translate(image.program->entry());
    if (entry->a_type == AT_EXECFN && has_other_program(image))
      value = reinterpret_cast<unsigned long>(image.program->main->path.c_str());
  }
  all.push_back({});
  return all;
}

void enter(fiber::Identity& rank) {
  const Image& image = image_of(&rank);
  const auto argc = static_cast<std::size_t>(image.argc);
  char** environment = environment_of(rank);
  std::size_t entries = 0;
  while (environment[entries] != nullptr) ++entries;

  // argc, arguments, null, environment, null, and the auxiliary vector with AT_NULL.
  const std::vector<ElfW(auxv_t)> auxiliary = auxiliary_vector_of(image);
  const std::size_t words = 1 + argc + 1 + entries + 1 + 2 * auxiliary.size();
  const std::size_t bytes = (words * sizeof(std::uintptr_t) + 15) / 16 * 16;
  auto* stack = static_cast<std::uintptr_t*>(__builtin_alloca_with_align(bytes, 128));
  std::memset(stack, 0, bytes);
  stack[0] = argc;
  std::memcpy(stack + 1, image.argv, argc * sizeof(char*));
  std::memcpy(stack + 1 + argc + 1, environment, entries * sizeof(char*));
  std::memcpy(stack + 1 + argc + 1 + entries + 1, auxiliary.data(), auxiliary.size() * sizeof auxiliary[0]);
  arch::start_program(
      static_cast<std::uintptr_t>(image.instance(*image.program->main)->here(image.program->entry())), stack);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t readlink(const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(const char*, char*, size_t)> real{"readlink"};
  if (is_link_to_link(path)) return real(path, text, room);
  const PathOfRank own(path);
  if (const char* const link = own.text_of_link(); link != nullptr && room > 0)
    return copy_link(link, text, room);
  return is_program(path, own.get()) ? read_link_to(own.get(), text, room) : real(own.get(), text, room);
}

CLUMP_HOST_API ssize_t readlinkat(int folder, const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(int, const char*, char*, size_t)> real{"readlinkat"};
  if (path != nullptr && path[0] == '/') return readlink(path, text, room);
  return real(standard::kernel_number(folder), path, text, room);
}

CLUMP_HOST_API char* realpath(const char* path, char* resolved) noexcept {
  return real_realpath(PathOfRank(path).get(), resolved);
}

CLUMP_HOST_API char* canonicalize_file_name(const char* path) noexcept { return realpath(path, nullptr); }

// What these become with -D_FORTIFY_SOURCE. The first two end the process if there is too little room.
CLUMP_HOST_API ssize_t __readlink_chk(const char* path, char* text, size_t bytes, size_t room) noexcept {
  static constinit Hidden<ssize_t(const char*, char*, size_t, size_t)> real{"__readlink_chk"};
  return bytes > room ? real(path, text, bytes, room) : readlink(path, text, bytes);
}
CLUMP_HOST_API ssize_t __readlinkat_chk(int folder, const char* path, char* text, size_t bytes,
                                        size_t room) noexcept {
  static constinit Hidden<ssize_t(int, const char*, char*, size_t, size_t)> real{"__readlinkat_chk"};
  return bytes > room ? real(folder, path, text, bytes, room) : readlinkat(folder, path, text, bytes);
}
CLUMP_HOST_API char* __realpath_chk(const char* path, char* resolved, size_t room) noexcept {
  static constinit Hidden<char*(const char*, char*, size_t)> real{"__realpath_chk"};
  return real(PathOfRank(path).get(), resolved, room);
}

CLUMP_HOST_API int stat(const char* path, struct stat* status) noexcept {
  static constinit Hidden<int(const char*, struct stat*)> real{"stat"};
  return real(PathOfRank(path).get(), status);
}

CLUMP_HOST_API unsigned long getauxval(unsigned long type) noexcept {
  static constinit Hidden<unsigned long(unsigned long)> real{"getauxval"};
  if (!captured()) return real(type);
  const Image& image = current_image();
  if (type == AT_PHDR && !image.native() && image_at(__builtin_return_address(0)) == &image)
    return headers_of(image);
  if (type != AT_EXECFN) return real(type);
  if (!has_other_program(image)) return real(type);
  return reinterpret_cast<unsigned long>(image.program->main->path.c_str());
}

}  // extern "C"
