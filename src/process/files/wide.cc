// Wide characters on the ranks' stdout and stderr. These are streams that the C library keeps narrow
// (output.h). So functions that would make them wide convert the characters in the rank's locale, and print
// bytes. As in a process, the first output decides: after it has printed bytes a rank can print no wide
// characters, except by putwc(). After wide characters it may print bytes, which would be an error in a
// process.
#undef _FORTIFY_SOURCE  // whose header would define some of these functions itself, inline
#include <iconv.h>
#include <langinfo.h>
#include <stdio_ext.h>

#include <array>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cwchar>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/output.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/rank_state.h"

namespace clump::image {
namespace {

using output::Orientation;

Orientation& orientation_of(int descriptor) {
  return current_image().state().output.orientation[static_cast<std::size_t>(descriptor)];
}

output::Stream& stream_of(int descriptor) {
  const standard::Place place = standard::place_of_standard(descriptor);
  output::RankOutput& output = current_image().state().output;
  return place.stream > 0 ? output.stream(place.stream) : output.own(descriptor);
}

/// The conversion that the C library does for wide streams: characters that the locale does not have become
/// similar ones.
iconv_t open_conversion() {
  return ::iconv_open((std::string(::nl_langinfo(CODESET)) + "//TRANSLIT").c_str(), "WCHAR_T");
}

/// Converts `text` into `bytes`. False with errno.
bool convert(Orientation& orientation, std::wstring_view text, std::string& bytes) {
  const std::scoped_lock lock(orientation.lock);
  if (orientation.conversion == nullptr) {
    const iconv_t made = open_conversion();
    if (made == reinterpret_cast<iconv_t>(-1)) return false;
    orientation.conversion = made;
  }
  char* in = const_cast<char*>(reinterpret_cast<const char*>(text.data()));
  std::size_t left = text.size() * sizeof(wchar_t);
  while (left > 0) {
    std::array<char, 512> room;
    char* out = room.data();
    std::size_t space = room.size();
    const std::size_t result = ::iconv(orientation.conversion, &in, &left, &out, &space);
    bytes.append(room.data(), room.size() - space);
    if (result == static_cast<std::size_t>(-1) && errno != E2BIG) return false;
  }
  return true;
}

/// What a function does if the rank has printed bytes before.
enum class AfterBytes : std::uint8_t { kFails, kPrints };

/// Prints on stdout or stderr. False with errno.
bool print(FILE* file, int descriptor, std::wstring_view text, AfterBytes after_bytes = AfterBytes::kFails) {
  Orientation& orientation = orientation_of(descriptor);
  if (orientation.decide(1) < 0 && after_bytes == AfterBytes::kFails) return false;
  std::string bytes;
  const bool whole = convert(orientation, text, bytes);
  if (!whole) current_image().state().output.failed[descriptor] = true;
  return std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size() && whole;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int fwide(FILE* file, int mode) noexcept {
  static constinit Hidden<int(FILE*, int)> real{"fwide"};
  const int descriptor = output::descriptor_of(file);
  return descriptor != 0 ? orientation_of(descriptor).decide(mode) : real(file, mode);
}

CLUMP_HOST_API wint_t fputwc(wchar_t character, FILE* file) {
  static constinit Hidden<wint_t(wchar_t, FILE*)> real{"fputwc"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(character, file);
  return print(file, descriptor, {&character, 1}) ? static_cast<wint_t>(character) : WEOF;
}
CLUMP_HOST_API wint_t fputwc_unlocked(wchar_t character, FILE* file) {
  static constinit Hidden<wint_t(wchar_t, FILE*)> real{"fputwc_unlocked"};
  return output::descriptor_of(file) != 0 ? fputwc(character, file) : real(character, file);
}

// In these functions the C library does not check the stream's orientation. std::wcout, which programs use
// besides std::cout, calls the first.
CLUMP_HOST_API wint_t putwc(wchar_t character, FILE* file) {
  static constinit Hidden<wint_t(wchar_t, FILE*)> real{"putwc"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(character, file);
  return print(file, descriptor, {&character, 1}, AfterBytes::kPrints) ? static_cast<wint_t>(character)
                                                                       : WEOF;
}
CLUMP_HOST_API wint_t putwc_unlocked(wchar_t character, FILE* file) {
  static constinit Hidden<wint_t(wchar_t, FILE*)> real{"putwc_unlocked"};
  return output::descriptor_of(file) != 0 ? putwc(character, file) : real(character, file);
}
CLUMP_HOST_API wint_t putwchar(wchar_t character) { return putwc(character, own_stdout()); }
CLUMP_HOST_API wint_t putwchar_unlocked(wchar_t character) { return putwc_unlocked(character, own_stdout()); }

CLUMP_HOST_API int fputws(const wchar_t* text, FILE* file) {
  static constinit Hidden<int(const wchar_t*, FILE*)> real{"fputws"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(text, file);
  return print(file, descriptor, text) ? 1 : EOF;
}
CLUMP_HOST_API int fputws_unlocked(const wchar_t* text, FILE* file) {
  static constinit Hidden<int(const wchar_t*, FILE*)> real{"fputws_unlocked"};
  return output::descriptor_of(file) != 0 ? fputws(text, file) : real(text, file);
}

CLUMP_HOST_API int vfwprintf(FILE* file, const wchar_t* format, va_list arguments) {
  static constinit Hidden<int(FILE*, const wchar_t*, va_list)> real{"vfwprintf"};
  const int descriptor = output::descriptor_of(file);
  if (descriptor == 0) return real(file, format, arguments);
  wchar_t* text = nullptr;
  std::size_t length = 0;
  FILE* const memory = ::open_wmemstream(&text, &length);
  if (memory == nullptr) return -1;
  const int count = real(memory, format, arguments);
  std::fclose(memory);
  const std::unique_ptr<wchar_t, void (*)(void*)> owner(text, std::free);
  return count >= 0 && print(file, descriptor, {text, length}) ? count : -1;
}
CLUMP_HOST_API int vwprintf(const wchar_t* format, va_list arguments) {
  return vfwprintf(own_stdout(), format, arguments);
}
CLUMP_HOST_API int fwprintf(FILE* file, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vfwprintf(file, format, arguments);
  va_end(arguments);
  return count;
}
CLUMP_HOST_API int wprintf(const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = vfwprintf(own_stdout(), format, arguments);
  va_end(arguments);
  return count;
}

// The names of these functions with -D_FORTIFY_SOURCE: on other streams they have the C library's checks.
CLUMP_HOST_API int __vfwprintf_chk(FILE* file, int flag, const wchar_t* format, va_list arguments) {
  static constinit Hidden<int(FILE*, int, const wchar_t*, va_list)> real{"__vfwprintf_chk"};
  return output::descriptor_of(file) != 0 ? vfwprintf(file, format, arguments)
                                          : real(file, flag, format, arguments);
}
CLUMP_HOST_API int __vwprintf_chk(int flag, const wchar_t* format, va_list arguments) {
  return __vfwprintf_chk(own_stdout(), flag, format, arguments);
}
CLUMP_HOST_API int __fwprintf_chk(FILE* file, int flag, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = __vfwprintf_chk(file, flag, format, arguments);
  va_end(arguments);
  return count;
}
CLUMP_HOST_API int __wprintf_chk(int flag, const wchar_t* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int count = __vfwprintf_chk(own_stdout(), flag, format, arguments);
  va_end(arguments);
  return count;
}

// The text of the same streams that was not written yet: a partial line.

CLUMP_HOST_API size_t __fpending(FILE* file) noexcept {
  static constinit Hidden<size_t(FILE*)> real{"__fpending"};
  const int descriptor = output::descriptor_of(file);
  return descriptor != 0 ? stream_of(descriptor).pending() : real(file);
}

CLUMP_HOST_API void __fpurge(FILE* file) noexcept {
  static constinit Hidden<void(FILE*)> real{"__fpurge"};
  const int descriptor = output::descriptor_of(file);
  descriptor != 0 ? stream_of(descriptor).discard() : real(file);
}

}  // extern "C"
