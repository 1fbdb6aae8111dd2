// stdout and stderr are streams of Clump's (output.h). These functions take that into account, and so do
// writes to what a rank has as descriptors 1 and 2 (standard.h).
#undef _FORTIFY_SOURCE  // whose header would define some of these functions itself, inline
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif
#include <fcntl.h>
#include <netdb.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/fdopen.h"
#include "process/files/output.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/rank_state.h"
#include "process/threads/left_behind.h"

namespace clump::image {
namespace {

using standard::Place;

/// Returns the result of the C library's function, to a rank that goes on, and reports a failure to write to
/// stdout or stderr to the job.
ssize_t noted(int descriptor, ssize_t result) {
  left_behind::stay_if_left();
  if (result < 0 && errno != EAGAIN && errno != EINTR && errno != EFAULT &&
      (descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO))
    output::note_failure(descriptor, errno);
  return result;
}

output::RankOutput& mine() { return current_image().state().output; }

/// write() to what a descriptor is to the rank. What was printed before is written first.
ssize_t write_to(int descriptor, const Place& place, std::string_view text) {
  static constinit Hidden<ssize_t(int, const void*, size_t)> real{"write"};
  if (place.stream > 0)
    return mine().stream(place.stream).append(text) ? static_cast<ssize_t>(text.size()) : -1;
  if (descriptor == STDOUT_FILENO || descriptor == STDERR_FILENO) mine().leave(descriptor, place.stream);
  return real(place.real, text.data(), text.size());
}

int flags_of_mode(std::string_view mode) {
  int flags = mode.find('+') != std::string_view::npos ? O_RDWR : mode[0] == 'r' ? O_RDONLY : O_WRONLY;
  if (mode[0] != 'r') flags |= O_CREAT | (mode[0] == 'a' ? O_APPEND : O_TRUNC);
  if (mode.find('e') != std::string_view::npos) flags |= O_CLOEXEC;
  return mode.find('x') != std::string_view::npos ? flags | O_EXCL : flags;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t write(int descriptor, const void* bytes, size_t count) {
  static constinit Hidden<ssize_t(int, const void*, size_t)> real{"write"};
  const Place place = standard::place_of(descriptor);
  if (place.stream <= 0 && !standard::is_standard(descriptor))
    return noted(descriptor, real(place.real, bytes, count));
  if (bytes == nullptr && count > 0) {
    errno = EFAULT;
    return -1;
  }
  return write_to(descriptor, place, {static_cast<const char*>(bytes), count});
}

CLUMP_HOST_API ssize_t writev(int descriptor, const iovec* parts, int count) {
  static constinit Hidden<ssize_t(int, const iovec*, int)> real{"writev"};
  const Place place = standard::place_of(descriptor);
  if (count < 0 || (place.stream <= 0 && !standard::is_standard(descriptor)))
    return noted(descriptor, real(place.real, parts, count));
  std::string all;
  for (int i = 0; i < count; ++i) all.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return write_to(descriptor, place, all);
}

CLUMP_HOST_API int vdprintf(int descriptor, const char* format, va_list arguments) {
  static constinit Hidden<int(int, const char*, va_list)> real{"vdprintf"};
  const Place place = standard::place_of(descriptor);
  if (place.stream <= 0) {
    if (standard::is_standard(descriptor) && descriptor > 0) mine().leave(descriptor, place.stream);
    return real(place.real, format, arguments);
  }
  char* text = nullptr;
  const int length = vasprintf(&text, format, arguments);
  if (length < 0) return length;
  const bool good = mine().stream(place.stream).append({text, static_cast<std::size_t>(length)});
  std::free(text);
  return good ? length : -1;
}

CLUMP_HOST_API int dprintf(int descriptor, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vdprintf(descriptor, format, arguments);
  va_end(arguments);
  return length;
}

/// What the two above become with -D_FORTIFY_SOURCE.
CLUMP_HOST_API int __vdprintf_chk(int descriptor, int, const char* format, va_list arguments) {
  return vdprintf(descriptor, format, arguments);
}

CLUMP_HOST_API int __dprintf_chk(int descriptor, int, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vdprintf(descriptor, format, arguments);
  va_end(arguments);
  return length;
}

/// The C library writes to the descriptor directly, without the stream.
CLUMP_HOST_API void herror(const char* text) noexcept {
  static constinit Hidden<void(const char*)> real{"herror"};
  if (!captured()) return real(text);
  const bool has_text = text != nullptr && *text != '\0';
  dprintf(STDERR_FILENO, "%s%s%s\n", has_text ? text : "", has_text ? ": " : "", hstrerror(h_errno));
}

CLUMP_HOST_API int fflush(FILE* file) {
  static constinit Hidden<int(FILE*)> real{"fflush"};
  const int descriptor = output::descriptor_of(file);
  if (file != nullptr && descriptor == 0) return real(file);
  const int others =
      file == nullptr && captured() ? flush_streams(Streams::kAll, WhileBusy::kWait) : real(file);
  if (!output::started()) return others;
  if (file == nullptr) return mine().flush() ? others : EOF;
  const Place place = standard::place_of_standard(descriptor);
  const bool good = place.stream > 0 ? mine().stream(place.stream).flush() : mine().own(descriptor).flush();
  if (!good) mine().failed[descriptor] = true;
  return good ? others : EOF;
}

CLUMP_HOST_API int ferror(FILE* file) noexcept {
  static constinit Hidden<int(FILE*)> real{"ferror"};
  const int descriptor = output::descriptor_of(file);
  return descriptor != 0 ? static_cast<int>(mine().failed[descriptor]) : real(file);
}

CLUMP_HOST_API void clearerr(FILE* file) noexcept {
  static constinit Hidden<void(FILE*)> real{"clearerr"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor != 0)
    mine().failed[descriptor] = false;
  else
    real(file);
}

CLUMP_HOST_API void clearerr_unlocked(FILE* file) noexcept { clearerr(file); }

CLUMP_HOST_API int fileno(FILE* file) noexcept {
  static constinit Hidden<int(FILE*)> real{"fileno"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor != 0) return descriptor;
  if (const int number = number_of_job_stream(file); number >= 0) return number;
  if (captured() && file != nullptr && file == rank_input()) {
    if (standard::place_of_standard(STDIN_FILENO).real >= 0) return STDIN_FILENO;
    errno = EBADF;
    return -1;
  }
  return standard::number_of(real(file));
}

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

// A rank that reopens one of the three streams means its own.
CLUMP_HOST_API FILE* freopen(const char* path, const char* mode, FILE* file) {
  static constinit Hidden<FILE*(const char*, const char*, FILE*)> real{"freopen"};
  const int descriptor = output::descriptor_of(file);
  if (captured() && file != nullptr && file == rank_input()) return reopen_input(path, mode);
  if (descriptor == 0) {
    static constinit Hidden<int(FILE*)> real_fileno{"fileno"};
    if (captured() && file != nullptr) owners::forget(real_fileno(file));
    return standard::keep_stream(real(path, mode, file), __builtin_return_address(0));
  }
  if (path == nullptr) return file;
  const int opened = open_kernels(path, flags_of_mode(mode));
  if (opened < 0) {
    const int error = errno;
    standard::close(descriptor);
    errno = error;
    return nullptr;
  }
  standard::put(descriptor, opened);
  mine().failed[descriptor] = false;
  mine().orientation[static_cast<std::size_t>(descriptor)].now = 0;
  return file;
}

// The end of one rank's output is not the end of the others'.
CLUMP_HOST_API int fclose(FILE* file) {
  static constinit Hidden<int(FILE*)> real{"fclose"};
  static constinit Hidden<int(FILE*)> real_fileno{"fileno"};
  if (!captured() || file == nullptr) return real(file);
  if (file == rank_input()) return standard::close(STDIN_FILENO);
  const int descriptor = output::descriptor_of(file);
  if (descriptor != 0) {
    const bool good = fflush(file) == 0 && !mine().failed[descriptor];
    return standard::close(descriptor) == 0 && good ? 0 : EOF;
  }
  owners::forget_stream(file);
  const int kernels = real_fileno(file);
  const int number = standard::number_of(kernels);
  if (kernels >= 0) {
    // What the stream still holds is written while the rank has its record locks.
    if (locks::has_any()) fflush(file);
    locks::before_close(kernels);
    owners::forget(kernels);
  }
  // Before it is closed: another rank may get the number at once.
  if (number >= 0) standard::note_closed(number);
  return real(file);
}

}  // extern "C"
