// The loaded objects: the program, its libraries, and the templates of plugins. Some are private to each
// rank, others are shared.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "image/snapshot.h"
#include "image/symbols.h"

namespace clump::image {

/// One object that ld.so has loaded. Immutable once its snapshot is taken; never freed.
struct Object {
  Object(const link_map& map, std::string path);

  int id = 0;  ///< index in the registry
  const link_map* map = nullptr;
  std::string path;  ///< the path of the file that the user knows
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
  Snapshot snapshot;            ///< of private objects only

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  /// The first segment of a type; null if there is none.
  const ElfW(Phdr) * segment(std::uint32_t type) const;
  /// The path's last part.
  const char* name() const;
};

/// All objects that have been seen, by number. Grows under the loader's lock; reading needs no lock.
class Registry {
 public:
  static Registry& get();

  /// Adds the new objects of ld.so's list. `path_of_new` is the file that an object loaded from a memory file
  /// stands for. Called with the loader's lock held.
  std::vector<Object*> update(const std::string& path_of_new = {});

  int size() const;
  Object& at(int id) const;
  /// The object that holds an address; null if there is none. Usable in signal handlers.
  Object* find(std::uintptr_t address) const;
  /// The object loaded from the same file; null if there is none.
  Object* find_file(const std::string& path) const;
  Object* find_map(const link_map* map) const;

 private:
  Registry() = default;
  void add(std::unique_ptr<Object> object);
};

/// Marks the private ones among the objects loaded at the start: the program, the interposers and what they
/// need, except shared ones.
void choose_private_objects();

/// The libraries before Clump's in ld.so's order of which each rank has a copy: profiling tools and wrappers
/// (interposers.h). mpiexec preloads them before Clump's. In load order.
std::vector<Object*> interposers();

}  // namespace clump::image
