// The loaded objects: the program, its libraries, and the templates of plugins. Which are private to each
// rank, which are shared.
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
  std::string path;  ///< of the file that the user knows
  Dynamic dynamic;
  std::vector<ElfW(Phdr)> segments;
  std::uintptr_t begin = 0;    ///< first page
  std::uintptr_t end = 0;      ///< after the last page
  std::size_t alignment = 0;   ///< the largest of its segments'
  std::size_t tls_module = 0;  ///< 0: none
  bool is_private = false;
  bool is_program = false;      ///< not a library
  bool is_template = false;     ///< loaded to be copied only: no rank runs on it
  std::vector<Object*> needed;  ///< in the order of DT_NEEDED; those that are loaded
  Snapshot snapshot;            ///< of private objects only

  bool holds(std::uintptr_t address) const { return address - begin < end - begin; }
  /// The first segment of that type; null if there is none.
  const ElfW(Phdr) * segment(std::uint32_t type) const;
  /// The path's last part.
  const char* name() const;
};

/// All objects that have been seen, by number. Grows under the lock of the loader; reading needs none.
class Registry {
 public:
  static Registry& get();

  /// Looks at ld.so's list and adds what is new. `path` names the file that an object loaded from a memfd
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

/// Marks the private ones among the objects loaded at start: the program, the interposers and what they need,
/// but for the shared ones.
void choose_private_objects();

/// Libraries that ld.so looks through before ours, and that each rank has a copy of: profiling tools,
/// wrappers (interposers.h). mpiexec preloads them before ours. In load order.
std::vector<Object*> interposers();

}  // namespace clump::image
