// A program may assign another stream to `stdout` or `stderr`, and each rank has these variables to itself.
// The C library's functions that name no stream write to its own `stdout`, which is the first rank's. Here
// they write to the calling rank's.

// The header would define some of these functions itself, inline.
#undef _FORTIFY_SOURCE
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/output.h"
#include "process/files/streams.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

FILE* current(int variable, FILE* of_process) {
  return captured() ? *static_cast<FILE**>(current_image().variable(variable)) : of_process;
}

}  // namespace

FILE* own_stdout() { return current(kStandardOutput, stdout); }

void begin_standard_output(Image& image) {
  if (image.native() || !output::started()) return;
  auto** const out = static_cast<FILE**>(image.variable(kStandardOutput));
  auto** const error = static_cast<FILE**>(image.variable(kStandardError));
  // They are null, in a program that is loaded late; or the first rank's; or the C library's, which ld.so has
  // copied to a program other than the first one.
  *out = image.state().output.make_file(1);
  *error = image.state().output.make_file(2);
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int vprintf(const char* format, va_list arguments) {
  return std::vfprintf(own_stdout(), format, arguments);
}
CLUMP_HOST_API int printf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vfprintf(own_stdout(), format, arguments);
  va_end(arguments);
  return length;
}
CLUMP_HOST_API int puts(const char* text) {
  FILE* const stream = own_stdout();
  flockfile(stream);
  const bool good = fputs_unlocked(text, stream) >= 0 && putc_unlocked('\n', stream) >= 0;
  funlockfile(stream);
  return good ? 1 : EOF;
}
CLUMP_HOST_API int putchar(int letter) { return std::putc(letter, own_stdout()); }
CLUMP_HOST_API int putchar_unlocked(int letter) { return putc_unlocked(letter, own_stdout()); }

/// What these become with -D_FORTIFY_SOURCE.
CLUMP_HOST_API int __vprintf_chk(int flag, const char* format, va_list arguments) {
  static constinit Hidden<int(FILE*, int, const char*, va_list)> real{"__vfprintf_chk"};
  return real(own_stdout(), flag, format, arguments);
}
CLUMP_HOST_API int __printf_chk(int flag, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = __vprintf_chk(flag, format, arguments);
  va_end(arguments);
  return length;
}

/// Keeps errno, as functions of the C library do that have succeeded.
CLUMP_HOST_API void perror(const char* text) {
  const int error = errno;
  FILE* const stream = current(kStandardError, stderr);
  const bool has_text = text != nullptr && *text != '\0';
  char room[128];
  const char* const words = strerror_r(error, room, sizeof room);
  std::fprintf(stream, "%s%s%s\n", has_text ? text : "", has_text ? ": " : "", words);
  errno = error;
}

}  // extern "C"
