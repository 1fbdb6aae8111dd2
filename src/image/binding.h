// Binding of a rank's copies of plugins by what that rank has open.
//
// ld.so binds a template once for the process: in the scope that the libraries of all ranks make up. A copy
// is bound as dlopen() would bind it in a process of the rank's own: the program and what was loaded with it
// come first, then what the rank has opened with RTLD_GLOBAL, then the library that it opens and what that
// needs. What ld.so has bound to the first of these stays; Snapshot::references has the rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "image/snapshot.h"

namespace clump::image {

struct Object;

/// A word with a value that is the same in all copies.
struct ValueWord {
  std::uintptr_t place = 0;
  std::uintptr_t value = 0;
};

/// The differences between a copy and ld.so's binding of its template. Immutable once a copy is made: ranks
/// that bind alike share it.
struct Binding {
  std::vector<Word> words;
  std::vector<ValueWord> values;
  /// The templates to which it is bound: they stay loaded as long as the copy.
  std::vector<Object*> uses;
};

/// Symbols of which a process has one definition, whatever libraries define them (STB_GNU_UNIQUE): by name,
/// the library whose definition the rank uses. The names lie in templates, which are never unloaded.
using UniqueSymbols = std::map<std::string, Object*, std::less<>>;

/// Where a rank looks for the symbols of a library that it opens. The libraries are private, or shared by all
/// ranks; the rank has all private ones open, or is opening them.
struct Scope {
  std::vector<Object*> global;  ///< beyond what was loaded at the start
  std::vector<Object*> local;   ///< the library that the rank opens, and what that needs, breadth first
  bool local_first = false;     ///< RTLD_DEEPBIND

  bool operator==(const Scope&) const = default;
};

/// How a copy of a template was bound last, with all that this has depended on. Versions of a library are
/// different objects, and none is ever freed.
struct LastBinding {
  Scope scope;
  std::size_t originals = 0;  ///< how many objects there were besides templates
  /// A symbol of which a rank has one definition: what the scope has, and what the rank uses.
  struct One {
    const char* name;
    Object* found;
    Object* used;
  };
  std::vector<One> ones;
  std::shared_ptr<const Binding> binding;
};

/// Binds a copy of a template that the rank makes, as the last one if that was bound alike. `unique` gets
/// what the copy is the first to use. MPI_ERR_ARG, in ld.so's words, if a symbol that must be defined is not.
/// Under the image's lock and the loader's; calls functions of the library that choose among variants of a
/// function (STT_GNU_IFUNC).
base::Status bind_copy(Object& object, const Scope& scope, UniqueSymbols& unique,
                       std::shared_ptr<const Binding>* binding);

}  // namespace clump::image
