#include "inspect/allocators.h"

#include <algorithm>

#include "inspect/elf_file.h"
#include "inspect/search.h"

namespace clump::image {

bool defines_malloc(const ElfFile& file) { return file.defines("malloc") && file.defines("free"); }

bool is_allocator_library(const char* name) {
  const std::string_view given(name);
  constexpr std::string_view kKnown[] = {
      "libjemalloc.so",     "libtcmalloc",
      "libmimalloc",        "libsnmalloc",
      "libtbbmalloc",       "librpmalloc",
      "libhoard",           "libscalloc",
      "libhardened_malloc", "libscudo",
      "libnedmalloc.so",    "libptmalloc",
      "libdmalloc",         "libefence.so",
      "libduma.so",         "libumem.so",
      "libllalloc",         "libltalloc.so",
      "liblockless",        "libc_malloc_debug.so",
      "libclump_malloc.so", "libclump_mimalloc.so",
  };
  return std::ranges::any_of(kKnown, [&](std::string_view known) { return given.starts_with(known); });
}

bool is_of_libc_malloc(std::string_view function) {
  constexpr std::string_view kFunctions[] = {
      "mallinfo", "mallinfo2",        "malloc_info",      "malloc_stats",  "malloc_trim",
      "mallopt",  "malloc_get_state", "malloc_set_state", "__malloc_hook", "__morecore"};
  return std::ranges::find(kFunctions, function) != std::end(kFunctions);
}

std::string allocator_among(const std::string& preloaded, const std::string& library_path) {
  for (std::size_t from = 0; from < preloaded.size();) {
    const std::size_t to = std::min(preloaded.find_first_of(": ", from), preloaded.size());
    const std::string name = preloaded.substr(from, to - from);
    from = to + 1;
    if (name.empty()) continue;
    const std::string path = find_library(name, {}, {}, library_path);
    if (!path.empty() && defines_malloc(ElfFile(path))) return path;
  }
  return {};
}

}  // namespace clump::image
