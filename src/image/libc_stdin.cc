// Standard input belongs to the first rank; the others find it empty, as under every launcher. The C
// library's functions that name no stream read its own `stdin`, which is the first rank's: here they read the
// calling rank's.

// The header would define some of these functions itself, inline.
#ifndef __NO_INLINE__
#define __NO_INLINE__ 1
#endif
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <cwchar>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

/// One stream for all who have nothing to read: that it is at its end is all there is to know about it.
FILE* empty_input() {
  static FILE* const empty = std::fopen("/dev/null", "re");
  return empty;
}

FILE* input() { return captured() ? *current_image().variable(&stdin) : stdin; }

bool reads_nothing(int descriptor) {
  return descriptor == STDIN_FILENO && captured() && !current_image().native();
}

}  // namespace

void begin_input(Image& image) {
  if (FILE* empty = empty_input()) *image.variable(&stdin) = empty;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API ssize_t read(int descriptor, void* bytes, size_t count) {
  static constinit Hidden<ssize_t(int, void*, size_t)> real{"read"};
  return reads_nothing(descriptor) ? 0 : real(descriptor, bytes, count);
}

CLUMP_HOST_API int getchar() { return std::getc(input()); }
CLUMP_HOST_API int getchar_unlocked() { return getc_unlocked(input()); }
CLUMP_HOST_API wint_t getwchar() { return std::getwc(input()); }

// The header gives scanf() another name in the binary: that of the C99 form. The traditional one differs in
// "%a" and has its own.
CLUMP_HOST_API int vscanf(const char* format, va_list arguments) {
  return std::vfscanf(input(), format, arguments);
}
CLUMP_HOST_API int scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = std::vfscanf(input(), format, arguments);
  va_end(arguments);
  return items;
}

CLUMP_HOST_API int traditional_vscanf(const char* format, va_list arguments) __asm__("vscanf");
CLUMP_HOST_API int traditional_vscanf(const char* format, va_list arguments) {
  static constinit Hidden<int(FILE*, const char*, va_list)> real{"vfscanf"};
  return real(input(), format, arguments);
}
CLUMP_HOST_API int traditional_scanf(const char* format, ...) __asm__("scanf");
CLUMP_HOST_API int traditional_scanf(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int items = traditional_vscanf(format, arguments);
  va_end(arguments);
  return items;
}

}  // extern "C"
