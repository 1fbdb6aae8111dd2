// The loaded objects: the program, its libraries, and the templates of plugins. Some are private to each
// rank, others are shared.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "image/binding.h"
#include "image/snapshot.h"
#include "image/symbols.h"
#include "inspect/file_identity.h"

namespace clump::image {

/// One object that ld.so has loaded. Never freed. While it is loaded only the thread with the loader's lock
/// has it; once its snapshot is taken it is immutable, and any thread may read it.
struct Object {
  Object(const link_map& map, std::string path);

  int id = 0;  ///< index in the registry
  const link_map* map = nullptr;
  std::string path;   ///< the path of the file that the user knows
  FileIdentity file;  ///< the file that was at `path` when it was loaded
  /// A sum of the file's bytes, as long as its time does not tell versions apart; or 0. Always under the
  /// loader's lock.
  std::uint64_t content = 0;
  Dynamic dynamic;
  std::vector<ElfW(Phdr)> segments;
  std::uintptr_t begin = 0;    ///< first page
  std::uintptr_t end = 0;      ///< after the last page
  std::size_t alignment = 0;   ///< the largest alignment of its segments
  std::size_t tls_module = 0;  ///< 0: none
  bool is_private = false;
  bool is_program = false;      ///< it is a program, not a library
  bool is_template = false;     ///< loaded to be copied only: no rank runs on it
  std::vector<Object*> needed;  ///< in the order of DT_NEEDED; only loaded ones
  /// Of a template, by number of symbol: ld.so was told that it need not be defined, and its file says that
  /// it must. Numbers behind the end: false.
  std::vector<bool> required;
  Snapshot snapshot;                          ///< of private objects only
  std::unique_ptr<LastBinding> last_binding;  ///< of a template; always under the loader's lock

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  /// The first segment of a type; null if there is none.
  const ElfW(Phdr) * segment(std::uint32_t type) const;
  /// The path's last part.
  const char* name() const;
};

/// Whether ld.so's name of an object is that of a memory file: of a template, which may not be in the
/// registry yet.
bool is_memory_file(const char* name);

/// All objects that have been seen, by number. Grows under the loader's lock; reading needs no lock, except
/// where a function says so.
class Registry {
 public:
  static Registry& get();

  /// Adds all objects of ld.so's list, at the start.
  void add_all();
  /// The object of a library that ld.so has opened and never unloads; adds it if it is new. Null if there is
  /// no room. With the loader's lock held.
  Object* add(const link_map& map);
  /// Adds the object that ld.so has just loaded from a memory file, which stands for the file at `path`. Null
  /// if there is none, or no room. With the loader's lock held.
  Object* add_template(const std::string& path, const FileIdentity& file);

  int size() const;
  /// How many objects more there is room for. An object beyond them is not added.
  int room() const;
  Object& at(int id) const;
  /// The object that holds an address; null if there is none. Usable in signal handlers.
  Object* find(std::uintptr_t address) const;
  /// The objects loaded from a path, the oldest first: versions of a file, or the same one bound otherwise.
  /// With the loader's lock held; valid until one is added.
  const std::vector<Object*>& from_path(const std::string& path) const;
  /// The same for a file, whatever its path.
  const std::vector<Object*>& from_file(const FileIdentity& file) const;
  /// All objects but templates, in load order. With the loader's lock held; valid until one is added.
  const std::vector<Object*>& originals() const;

 private:
  struct Tables;

  Registry() = default;
  Object* add(std::unique_ptr<Object> object);
  Tables& tables();

  Tables* tables_ = nullptr;  // made with the first object; under the loader's lock
};

/// Marks the private ones among the objects loaded at the start: the program, the interposers and what they
/// need, except shared ones.
void choose_private_objects();

/// The libraries before Clump's in ld.so's order of which each rank has a copy: profiling tools and wrappers
/// (interposers.h). mpiexec preloads them before Clump's. In load order.
std::vector<Object*> interposers();

}  // namespace clump::image
