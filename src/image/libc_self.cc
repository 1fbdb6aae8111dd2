// Functions that look at a file by its path, or ask for the program: what a rank finds about its own program
// (own_program.h). open() and its kin are in libc_descriptors.cc, exec() in libc_exec.cc.
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
#include "image/objects.h"
#include "image/own_program.h"
#include "image/process_ids.h"
#include "image/rank_image.h"
#include "image/standard.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

using Resolve = char*(const char*, char*);

constinit Hidden<Resolve> real_realpath{"realpath"};

ssize_t copy_link(const char* link, char* text, std::size_t room) {
  const std::size_t length = std::min(std::strlen(link), room);
  std::memcpy(text, link, length);
  return static_cast<ssize_t>(length);
}

/// What readlink() of the program's link gives, which the file with another path stands for: it is no link.
ssize_t read_link_to(const char* file, char* text, std::size_t room) {
  char path[PATH_MAX];
  if (real_realpath(file, static_cast<char*>(path)) == nullptr) return -1;
  return copy_link(static_cast<const char*>(path), text, room);
}

bool is_program(const char* path, const char* own) {
  return own != path && std::strcmp(std::strrchr(path, '/'), "/exe") == 0;
}

/// "/proc/self", which is a link to the rank's folder; any other path is what path_for_rank() says.
class Path {
 public:
  explicit Path(const char* path) : path_(path_for_rank(path)) {
    if (!captured() || path == nullptr || std::strcmp(path, "/proc/self") != 0) return;
    std::snprintf(folder_, sizeof folder_, "/proc/%d", process_ids::mine());
    path_ = folder_;
  }
  operator const char*() const { return path_; }

  /// What readlink() of it gives; null where that is not /proc/self.
  const char* text_of_link() const { return path_ == folder_ ? folder_ + std::strlen("/proc/") : nullptr; }

 private:
  const char* path_;
  char folder_[24];
};

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t readlink(const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(const char*, char*, size_t)> real{"readlink"};
  const Path own(path);
  if (const char* const link = own.text_of_link(); link != nullptr && room > 0)
    return copy_link(link, text, room);
  return is_program(path, own) ? read_link_to(own, text, room) : real(path, text, room);
}

CLUMP_HOST_API ssize_t readlinkat(int folder, const char* path, char* text, size_t room) noexcept {
  static constinit Hidden<ssize_t(int, const char*, char*, size_t)> real{"readlinkat"};
  if (*path == '/') return readlink(path, text, room);
  return real(standard::kernel_number(folder), path, text, room);
}

CLUMP_HOST_API char* realpath(const char* path, char* resolved) noexcept {
  return real_realpath(static_cast<const char*>(Path(path)), resolved);
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
  return real(static_cast<const char*>(Path(path)), resolved, room);
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
  if (type != AT_EXECFN || !captured()) return real(type);
  const Image& image = current_image();
  if (image.native() || image.program == nullptr || !image.program->is_other()) return real(type);
  return reinterpret_cast<unsigned long>(image.program->main->path.c_str());
}

}  // extern "C"
