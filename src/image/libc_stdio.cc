// stdout and stderr are streams of ours (output.h); these functions know it, and so do writes to descriptors
// 1 and 2.
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "base/types.h"
#include "image/output.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

bool is_ours(int descriptor) {
  return output::started() && (descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO);
}

output::Stream& stream_of(int descriptor) { return current_image().output().stream(descriptor); }

int flags_of_mode(const char* mode) {
  const std::string text(mode);
  const bool both = text.find('+') != std::string::npos;
  if (text[0] == 'r') return both ? O_RDWR : O_RDONLY;
  return (both ? O_RDWR : O_WRONLY) | O_CREAT | (text[0] == 'a' ? O_APPEND : O_TRUNC);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t write(int descriptor, const void* bytes, size_t count) {
  static constinit Hidden<ssize_t(int, const void*, size_t)> real{"write"};
  if (!is_ours(descriptor)) return real(descriptor, bytes, count);
  return stream_of(descriptor).append({static_cast<const char*>(bytes), count}) ? static_cast<ssize_t>(count)
                                                                                : -1;
}

CLUMP_HOST_API ssize_t writev(int descriptor, const iovec* parts, int count) {
  static constinit Hidden<ssize_t(int, const iovec*, int)> real{"writev"};
  if (!is_ours(descriptor) || count < 0) return real(descriptor, parts, count);
  std::string all;
  for (int i = 0; i < count; ++i) all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return stream_of(descriptor).append(all) ? static_cast<ssize_t>(all.size()) : -1;
}

CLUMP_HOST_API int fflush(FILE* file) {
  static constinit Hidden<int(FILE*)> real{"fflush"};
  const int descriptor = output::descriptor_of(file);
  if (file != nullptr && descriptor == 0) return real(file);
  const int others = real(file);
  if (!output::started()) return others;
  output::RankOutput& mine = current_image().output();
  const bool good = file == nullptr ? mine.flush() : mine.stream(descriptor).flush();
  return good ? others : EOF;
}

CLUMP_HOST_API int fflush_unlocked(FILE* file) { return fflush(file); }

CLUMP_HOST_API int fileno(FILE* file) {
  static constinit Hidden<int(FILE*)> real{"fileno"};
  const int descriptor = output::descriptor_of(file);
  return descriptor != 0 ? descriptor : real(file);
}

CLUMP_HOST_API int fileno_unlocked(FILE* file) { return fileno(file); }

CLUMP_HOST_API int setvbuf(FILE* file, char* buffer, int mode, size_t size) {
  static constinit Hidden<int(FILE*, char*, int, size_t)> real{"setvbuf"};
  return output::descriptor_of(file) != 0 ? 0 : real(file, buffer, mode, size);
}

CLUMP_HOST_API void setbuf(FILE* file, char* buffer) {
  (void)setvbuf(file, buffer, buffer != nullptr ? _IOFBF : _IONBF, BUFSIZ);
}

CLUMP_HOST_API void setbuffer(FILE* file, char* buffer, size_t size) {
  (void)setvbuf(file, buffer, buffer != nullptr ? _IOFBF : _IONBF, size);
}

CLUMP_HOST_API void setlinebuf(FILE* file) { (void)setvbuf(file, nullptr, _IOLBF, 0); }

// A rank that reopens stdout means its own.
CLUMP_HOST_API FILE* freopen(const char* path, const char* mode, FILE* file) {
  static constinit Hidden<FILE*(const char*, const char*, FILE*)> real{"freopen"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(path, mode, file);
  if (path == nullptr) return file;
  const int opened = open(path, flags_of_mode(mode) | O_CLOEXEC, 0666);
  if (opened < 0) return nullptr;
  stream_of(descriptor).redirect(opened);
  return file;
}

CLUMP_HOST_API FILE* freopen64(const char* path, const char* mode, FILE* file) {
  return freopen(path, mode, file);
}

// One rank's end of output is not the others'.
CLUMP_HOST_API int fclose(FILE* file) {
  static constinit Hidden<int(FILE*)> real{"fclose"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(file);
  return stream_of(descriptor).end() ? 0 : EOF;
}

}  // extern "C"
