// Multibyte characters: between two calls the C library keeps the part of a character that it has seen, where
// the program gives it no memory for that. Here each rank has its own.
#undef _FORTIFY_SOURCE  // whose header would define some of these functions itself, inline
#undef __OPTIMIZE__     // the same
#include <uchar.h>

#include <cstdlib>
#include <cwchar>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"

namespace clump::image {

/// One for each function of the C library that has one, as in the C library.
struct MultibyteState {
  std::mbstate_t mbtowc{}, wctomb{}, mbrlen{}, mbrtowc{}, mbsrtowcs{}, mbsnrtowcs{}, mbrtoc16{}, mbrtoc32{};
  std::mbstate_t wcrtomb{}, wcsrtombs{}, wcsnrtombs{}, c16rtomb{}, c32rtomb{};
};

namespace {

constinit PerRank<MultibyteState> kept;

/// Returns null before there are ranks, as a MultibyteState allocates: the C library then uses its own state.
std::mbstate_t* state_or(std::mbstate_t* given, std::mbstate_t MultibyteState::*of_rank) {
  return given != nullptr || !captured() ? given : &(kept.of().*of_rank);
}

/// A result of the functions that do not tell an error from a part of a character.
int plain(std::size_t result) {
  return static_cast<std::ptrdiff_t>(result) < 0 ? -1 : static_cast<int>(result);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int mbtowc(wchar_t* wide, const char* text, size_t size) noexcept {
  static constinit Hidden<int(wchar_t*, const char*, size_t)> real{"mbtowc"};
  static constinit Hidden<size_t(wchar_t*, const char*, size_t, mbstate_t*)> convert{"mbrtowc"};
  if (!captured()) return real(wide, text, size);
  std::mbstate_t& state = kept.of().mbtowc;
  if (text == nullptr) {
    state = {};
    return real(nullptr, nullptr, 0);  // whether the locale's encoding has states
  }
  if (*text == '\0') {
    if (wide != nullptr) *wide = L'\0';
    return 0;
  }
  return plain(convert(wide, text, size, &state));
}

/// Begins anew with each character.
CLUMP_HOST_API int mblen(const char* text, size_t size) noexcept {
  static constinit Hidden<int(const char*, size_t)> real{"mblen"};
  static constinit Hidden<size_t(wchar_t*, const char*, size_t, mbstate_t*)> convert{"mbrtowc"};
  if (!captured() || text == nullptr) return real(text, size);
  if (*text == '\0') return 0;
  std::mbstate_t state{};
  return plain(convert(nullptr, text, size, &state));
}

CLUMP_HOST_API int wctomb(char* text, wchar_t wide) noexcept {
  static constinit Hidden<int(char*, wchar_t)> real{"wctomb"};
  static constinit Hidden<size_t(char*, wchar_t, mbstate_t*)> convert{"wcrtomb"};
  if (!captured()) return real(text, wide);
  std::mbstate_t& state = kept.of().wctomb;
  if (text != nullptr) return plain(convert(text, wide, &state));
  state = {};
  return real(nullptr, L'\0');
}

CLUMP_HOST_API size_t mbrlen(const char* text, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(const char*, size_t, mbstate_t*)> real{"mbrlen"};
  return real(text, size, state_or(state, &MultibyteState::mbrlen));
}
CLUMP_HOST_API size_t mbrtowc(wchar_t* wide, const char* text, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(wchar_t*, const char*, size_t, mbstate_t*)> real{"mbrtowc"};
  return real(wide, text, size, state_or(state, &MultibyteState::mbrtowc));
}
CLUMP_HOST_API size_t mbrtoc16(char16_t* wide, const char* text, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char16_t*, const char*, size_t, mbstate_t*)> real{"mbrtoc16"};
  return real(wide, text, size, state_or(state, &MultibyteState::mbrtoc16));
}
CLUMP_HOST_API size_t mbrtoc32(char32_t* wide, const char* text, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char32_t*, const char*, size_t, mbstate_t*)> real{"mbrtoc32"};
  return real(wide, text, size, state_or(state, &MultibyteState::mbrtoc32));
}
CLUMP_HOST_API size_t c16rtomb(char* text, char16_t wide, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char*, char16_t, mbstate_t*)> real{"c16rtomb"};
  return real(text, wide, state_or(state, &MultibyteState::c16rtomb));
}
CLUMP_HOST_API size_t c32rtomb(char* text, char32_t wide, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char*, char32_t, mbstate_t*)> real{"c32rtomb"};
  return real(text, wide, state_or(state, &MultibyteState::c32rtomb));
}
CLUMP_HOST_API size_t wcrtomb(char* text, wchar_t wide, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char*, wchar_t, mbstate_t*)> real{"wcrtomb"};
  return real(text, wide, state_or(state, &MultibyteState::wcrtomb));
}

CLUMP_HOST_API size_t mbsrtowcs(wchar_t* wide, const char** text, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(wchar_t*, const char**, size_t, mbstate_t*)> real{"mbsrtowcs"};
  return real(wide, text, size, state_or(state, &MultibyteState::mbsrtowcs));
}
CLUMP_HOST_API size_t mbsnrtowcs(wchar_t* wide, const char** text, size_t bytes, size_t size,
                                 mbstate_t* state) noexcept {
  static constinit Hidden<size_t(wchar_t*, const char**, size_t, size_t, mbstate_t*)> real{"mbsnrtowcs"};
  return real(wide, text, bytes, size, state_or(state, &MultibyteState::mbsnrtowcs));
}
CLUMP_HOST_API size_t wcsrtombs(char* text, const wchar_t** wide, size_t size, mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char*, const wchar_t**, size_t, mbstate_t*)> real{"wcsrtombs"};
  return real(text, wide, size, state_or(state, &MultibyteState::wcsrtombs));
}
CLUMP_HOST_API size_t wcsnrtombs(char* text, const wchar_t** wide, size_t count, size_t size,
                                 mbstate_t* state) noexcept {
  static constinit Hidden<size_t(char*, const wchar_t**, size_t, size_t, mbstate_t*)> real{"wcsnrtombs"};
  return real(text, wide, count, size, state_or(state, &MultibyteState::wcsnrtombs));
}

// What these become with -D_FORTIFY_SOURCE. They end the process if there is too little room.

CLUMP_HOST_API size_t __mbsrtowcs_chk(wchar_t* wide, const char** text, size_t size, mbstate_t* state,
                                      size_t room) noexcept {
  static constinit Hidden<size_t(wchar_t*, const char**, size_t, mbstate_t*, size_t)> real{"__mbsrtowcs_chk"};
  return real(wide, text, size, state_or(state, &MultibyteState::mbsrtowcs), room);
}
CLUMP_HOST_API size_t __mbsnrtowcs_chk(wchar_t* wide, const char** text, size_t bytes, size_t size,
                                       mbstate_t* state, size_t room) noexcept {
  static constinit Hidden<size_t(wchar_t*, const char**, size_t, size_t, mbstate_t*, size_t)> real{
      "__mbsnrtowcs_chk"};
  return real(wide, text, bytes, size, state_or(state, &MultibyteState::mbsnrtowcs), room);
}
CLUMP_HOST_API size_t __wcrtomb_chk(char* text, wchar_t wide, mbstate_t* state, size_t room) noexcept {
  static constinit Hidden<size_t(char*, wchar_t, mbstate_t*, size_t)> real{"__wcrtomb_chk"};
  return real(text, wide, state_or(state, &MultibyteState::wcrtomb), room);
}
CLUMP_HOST_API size_t __wcsrtombs_chk(char* text, const wchar_t** wide, size_t size, mbstate_t* state,
                                      size_t room) noexcept {
  static constinit Hidden<size_t(char*, const wchar_t**, size_t, mbstate_t*, size_t)> real{"__wcsrtombs_chk"};
  return real(text, wide, size, state_or(state, &MultibyteState::wcsrtombs), room);
}
CLUMP_HOST_API size_t __wcsnrtombs_chk(char* text, const wchar_t** wide, size_t count, size_t size,
                                       mbstate_t* state, size_t room) noexcept {
  static constinit Hidden<size_t(char*, const wchar_t**, size_t, size_t, mbstate_t*, size_t)> real{
      "__wcsnrtombs_chk"};
  return real(text, wide, count, size, state_or(state, &MultibyteState::wcsnrtombs), room);
}
CLUMP_HOST_API int __wctomb_chk(char* text, wchar_t wide, size_t room) noexcept {
  static constinit Hidden<int(char*, wchar_t, size_t)> real{"__wctomb_chk"};
  return !captured() || text == nullptr || room < MB_CUR_MAX ? real(text, wide, room) : wctomb(text, wide);
}

}  // extern "C"
