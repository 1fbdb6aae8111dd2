// scanf() and its kin, which read the calling rank's `stdin`, in all forms that a C library has: the
// traditional one, where "%a" takes memory, that of C99, and that of C23, where "%i" reads "0b1". A header
// chooses one by the program's standard and renames the call; so all are here, whatever this compiler's
// header says.
#include <cstdarg>
#include <cstdio>
#include <cwchar>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/streams.h"

namespace clump::image {
namespace {

/// The C library's function of this name, or where it is older than C23 its one of C99. Any thread.
template <typename Char>
class Scan {
 public:
  constexpr Scan(const char* name, const char* older) : name_(name), older_(older) {}

  int operator()(const Char* format, va_list arguments) {
    // relaxed: every thread would store the same value
    Function* found = __atomic_load_n(&found_, __ATOMIC_RELAXED);
    if (found == nullptr) {
      static constexpr char kHere = 0;
      void* definition = next_definition(name_, &kHere);
      if (definition == nullptr) definition = hidden_definition(older_);
      found = reinterpret_cast<Function*>(definition);
      __atomic_store_n(&found_, found, __ATOMIC_RELAXED);
    }
    return found(rank_stdin(), format, arguments);
  }

 private:
  using Function = int(std::FILE*, const Char*, va_list);
  const char* name_;
  const char* older_;
  Function* found_ = nullptr;
};

}  // namespace
}  // namespace clump::image

using clump::image::Scan;

// CLUMP_SCAN(name, Char, "v...", "...", "vf...", "older"): the two functions of these names read as the C
// library's third does. Their names here are not those of the header, which would rename them.
#define CLUMP_SCAN(name, Char, list, variadic, real, older)                        \
  CLUMP_HOST_API int v##name(const Char* format, va_list arguments) __asm__(list); \
  CLUMP_HOST_API int v##name(const Char* format, va_list arguments) {              \
    static constinit Scan<Char> scan{real, older};                                 \
    return scan(format, arguments);                                                \
  }                                                                                \
  CLUMP_HOST_API int name(const Char* format, ...) __asm__(variadic);              \
  CLUMP_HOST_API int name(const Char* format, ...) {                               \
    va_list arguments;                                                             \
    va_start(arguments, format);                                                   \
    const int items = v##name(format, arguments);                                  \
    va_end(arguments);                                                             \
    return items;                                                                  \
  }

extern "C" {

CLUMP_SCAN(scan_traditional, char, "vscanf", "scanf", "vfscanf", "vfscanf")
CLUMP_SCAN(scan_c99, char, "__isoc99_vscanf", "__isoc99_scanf", "__isoc99_vfscanf", "__isoc99_vfscanf")
CLUMP_SCAN(scan_c23, char, "__isoc23_vscanf", "__isoc23_scanf", "__isoc23_vfscanf", "__isoc99_vfscanf")
CLUMP_SCAN(wide_traditional, wchar_t, "vwscanf", "wscanf", "vfwscanf", "vfwscanf")
CLUMP_SCAN(wide_c99, wchar_t, "__isoc99_vwscanf", "__isoc99_wscanf", "__isoc99_vfwscanf", "__isoc99_vfwscanf")
CLUMP_SCAN(wide_c23, wchar_t, "__isoc23_vwscanf", "__isoc23_wscanf", "__isoc23_vfwscanf", "__isoc99_vfwscanf")

}  // extern "C"
