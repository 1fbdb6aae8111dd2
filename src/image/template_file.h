// The file that ld.so is given to load a template from: a library without its constructors and destructors,
// in memory.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace clump::image {

class ElfFile;
struct Object;
struct Dynamic;

/// A failed dlopen(), in ld.so's way to say it.
base::Status cannot_open(const std::string& path, std::string_view why);

/// What a library needs, loaded before the library.
struct Needs {
  /// The numbers, among the entries of the dynamic section, of needs that ld.so would not recognise as
  /// loaded, because a memory file without a SONAME has only its own path as its name. ld.so does not see
  /// these needs. Nor does it see those that are being loaded, and need this library.
  std::vector<std::size_t> unnamed;
  std::vector<Object*> objects;        ///< all, in the order of the entries
  std::vector<std::string> under_way;  ///< the paths of those that are being loaded
  std::vector<bool> required;          ///< see Object::required; filled by make_memory_file()
};

/// A memory file with a library. ld.so maps it, and needs the descriptor no more.
struct MemoryFile {
  MemoryFile() = default;
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile();

  int descriptor = -1;
  std::string path;  ///< no other one had it: ld.so takes a path that it has seen for the same file
};

/// Makes the memory file for the library at `path`. With the loader's lock held.
base::Status make_memory_file(const ElfFile& file, const std::string& path, Needs& needs, MemoryFile* made);

/// Restores the constructors and destructors that ld.so was not told about.
void restore_constructors(Dynamic& dynamic, const ElfFile& file);

}  // namespace clump::image
