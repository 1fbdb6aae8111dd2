// glob() of a home directory, which the C library reads in the environment of the first rank. wordexp() and
// tempnam() are in process_only.cc.
#include <glob.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"

namespace clump::image {
namespace {

/// The path as a pattern that matches the path itself.
std::string quoted(std::string_view path, int flags) {
  if ((flags & GLOB_NOESCAPE) != 0) return std::string(path);
  std::string pattern;
  for (const char letter : path) {
    if (std::strchr("*?[]\\{},~", letter) != nullptr) pattern += '\\';
    pattern += letter;
  }
  return pattern;
}

/// The pattern with the rank's HOME in place of each ~ that means it. The C library expands ~user.
std::string with_home(std::string_view pattern, int flags) {
  const char* const home = std::getenv("HOME");
  if (home == nullptr || *home == '\0') return std::string(pattern);
  const bool has_braces = (flags & GLOB_BRACE) != 0;
  const std::string_view ends = has_braces ? "/,}" : "/";
  std::string all;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool begins = at == 0 || (has_braces && (pattern[at - 1] == '{' || pattern[at - 1] == ','));
    const bool is_whole = at + 1 == pattern.size() || ends.find(pattern[at + 1]) != std::string_view::npos;
    all += begins && is_whole && pattern[at] == '~' ? quoted(home, flags) : std::string(1, pattern[at]);
  }
  return all;
}

constinit Hidden<int(const char*, int, int (*)(const char*, int), glob_t*)> real{"glob"};

/// Makes the pattern itself the result, by a search that finds no files.
int give_pattern(const char* pattern, int flags, glob_t* found) {
  const glob_t asked = *found;
  found->gl_opendir = [](const char*) -> void* {
    errno = ENOTDIR;
    return nullptr;
  };
  found->gl_lstat = found->gl_stat = [](const char*, auto*) {
    errno = ENOENT;
    return -1;
  };
  constexpr int kKept = GLOB_APPEND | GLOB_DOOFFS | GLOB_NOSORT | GLOB_NOCHECK;
  const int result = real(pattern, (flags & kKept) | GLOB_ALTDIRFUNC | GLOB_NOESCAPE, nullptr, found);
  found->gl_opendir = asked.gl_opendir;
  found->gl_lstat = asked.gl_lstat;
  found->gl_stat = asked.gl_stat;
  found->gl_flags = (found->gl_flags & GLOB_MAGCHAR) | (flags & ~GLOB_MAGCHAR);
  return result;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int glob(const char* pattern, int flags, int (*failed)(const char*, int), glob_t* found) {
  if (!captured() || (flags & (GLOB_TILDE | GLOB_TILDE_CHECK)) == 0 || std::strchr(pattern, '~') == nullptr)
    return real(pattern, flags, failed, found);
  const std::string expanded = with_home(pattern, flags);
  if (expanded == pattern) return real(pattern, flags, failed, found);
  // Without a match the result is the pattern as the program has given it.
  const int result = real(expanded.c_str(), flags & ~(GLOB_NOCHECK | GLOB_NOMAGIC), failed, found);
  return result == GLOB_NOMATCH && (flags & GLOB_NOCHECK) != 0 ? give_pattern(pattern, flags, found) : result;
}

}  // extern "C"
