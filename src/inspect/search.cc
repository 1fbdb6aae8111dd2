#include "inspect/search.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "inspect/allocators.h"
#include "inspect/arch.h"
#include "inspect/elf_file.h"

namespace clump::image {
namespace {

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void replace_all(std::string& text, const std::string& what, const std::string& by) {
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

std::vector<std::string> expand(const std::string& list, const std::string& origin) {
  std::vector<std::string> directories = split_path(list);
  for (std::string& directory : directories) {
    replace_all(directory, "${ORIGIN}", origin);
    replace_all(directory, "$ORIGIN", origin);
    replace_all(directory, "${LIB}", fmt::format("lib/{}", arch::kTriplet));
    replace_all(directory, "$LIB", fmt::format("lib/{}", arch::kTriplet));
  }
  return directories;
}

/// The cache of ld.so, /etc/ld.so.cache, in the layout since glibc 2.2: "glibc-ld.so.cache1.1".
class Cache {
 public:
  Cache() : file_("/etc/ld.so.cache") {}

  std::string find(const std::string& name) const {
    const std::span<const std::byte> bytes = file_.bytes();
    const char* text = reinterpret_cast<const char*>(bytes.data());
    if (bytes.size() < sizeof(Header) || std::memcmp(text, kMagic, sizeof kMagic - 1) != 0) return {};
    const auto* header = reinterpret_cast<const Header*>(text);
    const auto* entries = reinterpret_cast<const Entry*>(header + 1);
    if (header->count > (bytes.size() - sizeof(Header)) / sizeof(Entry)) return {};
    for (std::uint32_t i = 0; i < header->count; ++i) {
      const Entry& entry = entries[i];
      // Entries with hardware capabilities are faster variants of a plain entry, which is in the cache, too.
      if (static_cast<unsigned>(entry.flags) != arch::kCacheFlags || entry.hardware != 0) continue;
      if (entry.key >= bytes.size() || entry.value >= bytes.size()) continue;
      if (name == string_at(entry.key)) return std::string(string_at(entry.value));
    }
    return {};
  }

 private:
  static constexpr char kMagic[] = "glibc-ld.so.cache1.1";
  struct Header {
    char magic[20];
    std::uint32_t count;
    std::uint32_t strings_size;
    std::uint32_t unused[5];
  };
  struct Entry {
    std::int32_t flags;
    std::uint32_t key;    // offset of the name in the file
    std::uint32_t value;  // offset of the path in the file
    std::uint32_t os_version;
    std::uint64_t hardware;
  };
  static_assert(sizeof(Header) == 48 && sizeof(Entry) == 24);

  std::string_view string_at(std::uint32_t offset) const {
    const std::span<const std::byte> bytes = file_.bytes();
    const char* text = reinterpret_cast<const char*>(bytes.data()) + offset;
    return {text, strnlen(text, bytes.size() - offset)};
  }

  ElfFile file_;
};

bool fits(const std::string& path) { return access(path.c_str(), R_OK) == 0 && ElfFile(path).valid(); }

std::string find_in(const std::vector<std::string>& directories, const std::string& name) {
  for (const std::string& directory : directories) {
    std::string path = directory;
    path.append("/").append(name);
    if (fits(path)) return path;
  }
  return {};
}

}  // namespace

std::vector<std::string> split_path(const std::string& list) {
  std::vector<std::string> parts;
  if (list.empty()) return parts;
  std::size_t begin = 0;
  while (true) {
    const std::size_t end = list.find_first_of(":;", begin);
    std::string part = list.substr(begin, end == std::string::npos ? end : end - begin);
    parts.push_back(part.empty() ? "." : std::move(part));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

SearchPaths search_paths_of(const ElfFile& file, const std::string& path) {
  SearchPaths paths;
  char resolved[4096];
  const std::string origin = directory_of(realpath(path.c_str(), resolved) != nullptr ? resolved : path);
  paths.has_runpath = file.entry(DT_RUNPATH) != nullptr;
  if (paths.has_runpath) {
    paths.runpath = expand(file.first_string(DT_RUNPATH), origin);
  } else {
    paths.rpath = expand(file.first_string(DT_RPATH), origin);
  }
  return paths;
}

std::string find_library(const std::string& name, const SearchPaths& paths,
                         const std::vector<std::string>& inherited, const std::string& library_path) {
  if (name.find('/') != std::string::npos) return fits(name) ? name : std::string();
  std::string found;
  if (!paths.has_runpath) {
    found = find_in(paths.rpath, name);
    if (found.empty()) found = find_in(inherited, name);
  }
  if (found.empty()) found = find_in(split_path(library_path), name);
  if (found.empty()) found = find_in(paths.runpath, name);
  if (found.empty()) {
    found = Cache().find(name);
    if (!found.empty() && !fits(found)) found.clear();
  }
  if (found.empty()) {
    found = find_in({fmt::format("/lib/{}", arch::kTriplet), fmt::format("/usr/lib/{}", arch::kTriplet),
                     arch::kLibDirectory, std::string("/usr") + arch::kLibDirectory, "/lib", "/usr/lib"},
                    name);
  }
  return found;
}

bool is_shared_library(const char* name) {
  const std::string_view given(name);
  for (std::string_view shared : {"ld-linux",         "ld64.so",
                                  "linux-vdso",       "linux-gate",
                                  "libc.so",          "libm.so",
                                  "libpthread.so",    "libdl.so",
                                  "librt.so",         "libutil.so",
                                  "libresolv.so",     "libnsl.so",
                                  "libanl.so",        "libmvec.so",
                                  "libthread_db.so",  "libnss_",
                                  "libgcc_s.so",      "libmpi_abi.so",
                                  "libclump_host.so", "libasan.so",
                                  "libtsan.so",       "libubsan.so",
                                  "liblsan.so",       "libhwasan.so",
                                  "libclang_rt.",     "libc_malloc_debug.so"}) {
    if (given.substr(0, shared.size()) == shared) return true;
  }
  return is_allocator_library(name);
}

}  // namespace clump::image
