// Functions that look at a file by its path, or ask for the program: what a rank finds about its own program
// (own_program.h). open() and its kin are in libc_descriptors.cc, exec() in libc_exec.cc.
#undef _FORTIFY_SOURCE
#include <limits.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/types.h"
#include "image/objects.h"
#include "image/own_program.h"
#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

using Resolve = char*(const char*, char*);

constinit Hidden<Resolve> real_realpath{"realpath"};

/// What readlink() of the program's link gives, which the file with another path stands for: it is no link.
ssize_t read_link_to(const char* file, char* text, std::size_t room) {
  char path[PATH_MAX];
  if (real_realpath(file, static_cast<char*>(path)) == nullptr) return -1;
  const std::size_t length = std::strlen(path) < room ? std::strlen(path) : room;
  std::memcpy(text, path, length);
  return static_cast<ssize_t>(length);
}

bool is_program(const char* path, const char* own) {
  return own != path && std::strcmp(std::strrchr(path, '/'), "/exe") == 0;
}

/// The address of the program headers of the rank's program.
unsigned long headers_of(const Image& image) {
  const std::uintptr_t original = image.program->main->dynamic.base;
  return image.translate(original) + reinterpret_cast<const ElfW(Ehdr)*>(original)->e_phoff;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t readlink(const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(const char*, char*, size_t)> real{"readlink"};
  const char* const own = path_for_rank(path);
  return is_program(path, own) ? read_link_to(own, text, room) : real(path, text, room);
}

CLUMP_HOST_API ssize_t readlinkat(int folder, const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(int, const char*, char*, size_t)> real{"readlinkat"};
  const char* const own = path_for_rank(path);
  return is_program(path, own) ? read_link_to(own, text, room)
                               : real(standard::kernel_number(folder), path, text, room);
}

CLUMP_HOST_API char* realpath(const char* path, char* resolved) noexcept {
  return real_realpath(path_for_rank(path), resolved);
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
  return real(path_for_rank(path), resolved, room);
}

CLUMP_HOST_API int stat(const char* path, struct stat* status) noexcept {
  static constinit Hidden<int(const char*, struct stat*)> real{"stat"};
  return real(path_for_rank(path), status);
}

CLUMP_HOST_API int stat64(const char* path, struct stat64* status) noexcept {
  static constinit Hidden<int(const char*, struct stat64*)> real{"stat64"};
  return real(path_for_rank(path), status);
}

CLUMP_HOST_API unsigned long getauxval(unsigned long type) noexcept {
  static constinit Hidden<unsigned long(unsigned long)> real{"getauxval"};
  if (!captured()) return real(type);
  const Image& image = current_image();
  if (type == AT_PHDR && !image.native() && image_at(__builtin_return_address(0)) == &image)
    return headers_of(image);
  if (type != AT_EXECFN) return real(type);
  if (image.native() || image.program == nullptr || !image.program->is_other()) return real(type);
  return reinterpret_cast<unsigned long>(image.program->main->path.c_str());
}

}  // extern "C"
