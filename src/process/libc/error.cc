// error(), err(), warn() and the related functions. Where they end the program, the C library's own would end
// the process of all ranks. They would also count errors for all ranks together, and write to the first
// rank's `stderr`.
#include <err.h>
#include <error.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

template <typename T>
T& variable(int number) {
  return *static_cast<T*>(current_image().variable(number));
}

FILE* errors() { return variable<FILE*>(kStandardError); }

/// Prints ": " and the system's text for an error.
void print_words(FILE* stream, int error) {
  char room[128];
  std::fprintf(stream, ": %s", strerror_r(error, room, sizeof room));
}

/// Does what error() does. `file`: null, or the file with the error.
void print_error(int status, int error, const char* file, unsigned line, const char* format,
                 va_list arguments) {
  std::fflush(variable<FILE*>(kStandardOutput));
  FILE* const stream = errors();
  if (auto* const print_name = variable<void (*)()>(kPrintProgramName))
    print_name();
  else
    std::fprintf(stream, "%s:%s", *current_image().variable(&program_invocation_name),
                 file == nullptr ? " " : "");
  if (file != nullptr) std::fprintf(stream, "%s:%u: ", file, line);
  std::vfprintf(stream, format, arguments);
  ++variable<unsigned>(kErrorCount);
  if (error != 0) print_words(stream, error);
  std::fputc('\n', stream);
  std::fflush(stream);
  if (status != 0) exit(status);
}

/// Does what warn() does. `error`: 0, or the error to print at the end.
void print_warning(int error, const char* format, va_list arguments) {
  FILE* const stream = errors();
  std::fprintf(stream, "%s: ", *current_image().variable(&program_invocation_short_name));
  if (format != nullptr) std::vfprintf(stream, format, arguments);
  if (error != 0 && format != nullptr) print_words(stream, error);
  char room[128];
  if (error != 0 && format == nullptr) std::fputs(strerror_r(error, room, sizeof room), stream);
  std::fputc('\n', stream);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void error(int status, int number, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_error(status, number, nullptr, 0, format, arguments);
  va_end(arguments);
}

CLUMP_HOST_API void error_at_line(int status, int number, const char* file, unsigned line, const char* format,
                                  ...) {
  static thread_local const char* last_file = nullptr;
  static thread_local unsigned last_line = 0;
  if (variable<int>(kOneErrorPerLine) != 0) {
    const bool is_same_file =
        file == last_file || (file != nullptr && last_file != nullptr && std::strcmp(file, last_file) == 0);
    if (is_same_file && line == last_line) return;
    last_file = file;
    last_line = line;
  }
  va_list arguments;
  va_start(arguments, format);
  print_error(status, number, file, line, format, arguments);
  va_end(arguments);
}

CLUMP_HOST_API void vwarn(const char* format, va_list arguments) { print_warning(errno, format, arguments); }
CLUMP_HOST_API void vwarnx(const char* format, va_list arguments) { print_warning(0, format, arguments); }
CLUMP_HOST_API void verr(int status, const char* format, va_list arguments) {
  print_warning(errno, format, arguments);
  exit(status);
}
CLUMP_HOST_API void verrx(int status, const char* format, va_list arguments) {
  print_warning(0, format, arguments);
  exit(status);
}
CLUMP_HOST_API void warn(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_warning(errno, format, arguments);
  va_end(arguments);
}
CLUMP_HOST_API void warnx(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_warning(0, format, arguments);
  va_end(arguments);
}
CLUMP_HOST_API void err(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_warning(errno, format, arguments);
  exit(status);
}
CLUMP_HOST_API void errx(int status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_warning(0, format, arguments);
  exit(status);
}

}  // extern "C"
