// dlopen() and the related functions, for callers in ranks. A caller that no rank has a copy of (a shared
// library) gets what ld.so returns.
#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "base/environment.h"
#include "base/program_path.h"
#include "base/types.h"
#include "image/facade.h"
#include "image/fork_locks.h"
#include "image/loaded_mpi.h"
#include "image/loader.h"
#include "image/no_cancel.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/sentinels.h"
#include "image/symbols.h"
#include "inspect/elf_file.h"
#include "inspect/mpi_library.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

constexpr int kProgramHeaders = 11;  ///< RTLD_DI_PHDR, which older headers lack

/// What dlerror() will return to this thread; empty: ld.so's own text.
struct LastError {
  std::string text;
  bool told = false;
};

/// Apart from the text, which allocates when a thread first uses it: the caller may be an allocator that
/// looks up symbols.
constinit thread_local bool has_own_error = false;

LastError& last_error() {
  static thread_local LastError error;
  return error;
}

void* fail(const base::Status& status) {
  last_error() = {base::message_of(status.code()), false};
  has_own_error = true;
  return nullptr;
}

struct Caller {
  Object* object = nullptr;  ///< null if it is shared, or code that belongs to no object
  Image* image = nullptr;
};

Caller caller_at(const void* address) {
  if (!captured()) return {};
  std::uintptr_t ignored = 0;
  Object* object = original_of(address, &ignored);
  Image* image = object != nullptr ? image_at(address) : nullptr;
  return {image != nullptr ? object : nullptr, image};
}

/// The same for a function that is given a handle. If a rank's code ends with the call, the address that it
/// returns to is its caller's, and may be in a shared library; the handle tells that it is the rank's.
Caller caller_with(const void* handle, const void* address) {
  const Caller caller = caller_at(address);
  if (caller.image != nullptr || !captured() || handle == RTLD_DEFAULT || handle == RTLD_NEXT) return caller;
  Image& mine = current_image();
  return mine.plugins().find(handle) != nullptr ? Caller{mine.program->main, &mine} : caller;
}

/// Tells the library for Fortran of sentinels that an object has for itself; the object stays loaded then.
void keep_sentinels(const link_map& object) {
  if (add_own_sentinels(object, current_image()))
    ld_open(object.l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

/// Held while a library for all ranks is looked for, opened and bound, and while one is closed: ld.so's list,
/// which is read, must not lose an object meanwhile. As ld.so's own lock it is held over constructors, which
/// open libraries.
constinit RecursiveForkMutex open_lock;

/// The facade that ld.so would find where nothing names an MPI library, were libmpi_abi.so.1 not there
/// before: the first that came with RTLD_GLOBAL to a process of one rank. Set under open_lock, read by any
/// thread.
constinit std::atomic<const link_map*> global_facade{nullptr};

/// The MPI library that comes with `library`, if dlopen() with these flags makes it global; else null.
const link_map* global_mpi(const link_map* library, int flags) {
  if (library == nullptr || (flags & RTLD_GLOBAL) == 0) return nullptr;
  const link_map* const mpi = mpi_library_of(*library);
  if (mpi != nullptr) current_image().has_opened_mpi = true;
  return mpi;
}

void* note_if_global(void* opened, int flags) {
  if (global_facade != nullptr) return opened;
  const link_map* const mpi = global_mpi(static_cast<const link_map*>(opened), flags);
  // One that came because another library needs it is no handle for dlsym() before it is opened itself.
  if (mpi != nullptr && is_facade_for_c(*mpi) && ld_open(mpi->l_name, RTLD_NOW | RTLD_NOLOAD) != nullptr)
    global_facade = mpi;
  return opened;
}

/// The same for a handle of a rank's: the rank's own, or ld.so's of a library that all ranks share.
void* note_if_global(Image& image, void* handle, int flags) {
  if (image.has_opened_mpi || (flags & RTLD_GLOBAL) == 0) return handle;
  const std::scoped_lock lock(open_lock);
  const Handle* const mine = image.plugins().find(handle);
  if (mine == nullptr)
    (void)global_mpi(static_cast<const link_map*>(handle), flags);
  else if (mine->object != nullptr)
    (void)global_mpi(mine->object->map, flags);
  return handle;
}

/// Opens the library `name`, which is in `file`, and binds all that comes in with it to the facade and to the
/// library for Fortran. `facade` is the one that has to be there first; empty: none has.
void* open_over(std::string facade, const std::string& file, const char* name, int flags) {
  const std::scoped_lock lock(open_lock);
  const link_map* last = first_loaded();
  while (last->l_next != nullptr) last = last->l_next;
  for (; !facade.empty(); facade = facade_needed_by(file)) {
    if (ld_open(facade.c_str(), RTLD_NOW | RTLD_NODELETE) == nullptr) return nullptr;
  }
  void* const opened = note_if_global(ld_open(name, flags), flags);
  const link_map* found = global_facade;
  if (found == nullptr && opened != nullptr) found = mpi_library_of(*static_cast<const link_map*>(opened));
  for (const link_map* map = last->l_next; map != nullptr; map = map->l_next) {
    bind_to_facade(*map, found);
    bind_sentinels(*map);
    keep_sentinels(*map);
  }
  return opened;
}

void* open_file(const char* path, int flags) {
  const std::scoped_lock lock(open_lock);
  if (path == nullptr || (flags & RTLD_NOLOAD) != 0) return note_if_global(ld_open(path, flags), flags);
  // A family's library for Fortran is over its C library, and has to be bound to that.
  if (const std::string facade = facade_in_place_of(path); !facade.empty())
    return open_over(facade, facade, facade.c_str(), flags);
  // One that is loaded already serves as well: what comes in is bound to it.
  return open_over(facade_needed_by(path), path, path, flags);
}

/// ld.so searches the paths of its caller's file. Its caller would be this library, so the search is done
/// here where that matters. What will be opened is read before (open_file()).
void* open_shared(const char* name, int flags, const void* from) {
  if (name == nullptr || std::strchr(name, '/') != nullptr) return open_file(name, flags);
  const std::scoped_lock lock(open_lock);
  if (!facade_in_place_of(name).empty()) return open_file(name, flags);
  if (void* loaded = ld_open(name, flags | RTLD_NOLOAD)) return note_if_global(loaded, flags);
  if ((flags & RTLD_NOLOAD) != 0) return nullptr;
  static_cast<void>(ld_error());  // that it is not there yet is no error
  const link_map* map = loaded_at(from);
  const std::string file = map == nullptr || map->l_name[0] == '\0' ? base::program_path() : map->l_name;
  const SearchPaths paths = search_paths_of(ElfFile(file), file);
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  const std::string found = find_library(name, paths, {}, library_path != nullptr ? library_path : "");
  if (found.empty() || (paths.rpath.empty() && paths.runpath.empty()))
    return open_over(facade_needed_by(found), found, name, flags);
  return open_file(found.c_str(), flags);
}

/// Sets the error for what ld.so has failed to open: its text, and what the user can do if another MPI
/// library is missing. Returns null.
void* explain(const char* name) {
  static constinit Hidden<char*()> error{"dlerror"};
  const char* const text = error();
  if (text == nullptr) return nullptr;
  const auto wrong = missing_mpi(name, text);
  if (!wrong) return fail(base::fail(MPI_ERR_ARG, "{}", text));
  return fail(base::fail(MPI_ERR_ARG, "{} ({})", words_about(*wrong, own_mpicc()), text));
}

void* open(const char* name, int flags, const void* from) {
  const Caller caller = caller_at(from);
  has_own_error = false;
  if (caller.object == nullptr) {
    void* const opened = open_shared(name, flags, from);
    return opened != nullptr || name == nullptr ? opened : explain(name);
  }
  std::string path;
  if (name != nullptr && *name != '\0') {
    {
      const std::scoped_lock lock(open_lock);
      path = facade_in_place_of(name);
    }
    if (path.empty()) path = resolve_library(name, caller.object, *caller.image);
    if (path.empty()) {
      const std::string text =
          fmt::format("{}: cannot open shared object file: No such file or directory", name);
      const auto wrong = missing_mpi(name, text.c_str());
      return fail(wrong ? base::fail(MPI_ERR_ARG, "{} ({})", words_about(*wrong, own_mpicc()), text)
                        : base::fail(MPI_ERR_ARG, "{}", text));
    }
  }
  void* handle = nullptr;
  const base::Status opened = caller.image->plugins().open(path, flags, &handle);
  if (opened.ok()) return note_if_global(*caller.image, handle, flags);
  const std::string text = base::message_of(opened.code());
  const auto wrong = missing_mpi(path.c_str(), text.c_str());
  return fail(wrong ? base::fail(MPI_ERR_ARG, "{} ({})", words_about(*wrong, own_mpicc()), text) : opened);
}

void* undefined(const char* name, const Object* object) {
  const char* where = object != nullptr ? object->path.c_str() : Registry::get().at(0).path.c_str();
  return fail(base::fail(MPI_ERR_ARG, "{}: undefined symbol: {}", where, name));
}

void* ld_symbol(void* handle, const char* name, const char* version) {
  static constinit Hidden<void*(void*, const char*)> plain{"dlsym"};
  static constinit Hidden<void*(void*, const char*, const char*)> versioned{"dlvsym"};
  return version != nullptr ? versioned(handle, name, version) : plain(handle, name);
}

/// The definition after the caller's object. Copies have the positions of their originals.
void* next_symbol(const char* name, const void* from) {
  std::uintptr_t original = reinterpret_cast<std::uintptr_t>(from);
  if (captured()) original_of(from, &original);
  return next_definition(name, reinterpret_cast<const void*>(original));
}

/// A definition of a rank's program, if that is not the main program: ld.so would look first in the main
/// program, and only there.
void* in_program(const Image& image, const char* name) {
  if (!image.program->is_other()) return nullptr;
  const Object& main = *image.program->main;
  const ElfW(Sym)* symbol = main.dynamic.find(name);
  return symbol != nullptr ? reinterpret_cast<void*>(image.translate(
                                 reinterpret_cast<std::uintptr_t>(address_of(main.dynamic, *symbol))))
                           : nullptr;
}

/// The function that begins another MPI library would begin a job of this rank alone.
void* of_our_mpi(void* handle, const char* name, void* found) {
  const bool may_begin = name[0] == 'M' || name[0] == 'P';
  if (!may_begin || found == nullptr || handle == RTLD_DEFAULT || std::strstr(name, "MPI_") == nullptr)
    return found;
  const auto wrong = other_mpi_at(name, found);
  return wrong ? fail(base::fail(MPI_ERR_ARG, "{}: {}", name, words_about(*wrong, own_mpicc()))) : found;
}

/// The first definition in these libraries; null if there is none.
void* symbol_in(const std::vector<Object*>& objects, const char* name, const char* version) {
  static constinit Hidden<char*()> error{"dlerror"};
  for (const Object* object : objects) {
    if (object->dynamic.find(name) == nullptr) continue;
    // With glibc a handle is the object's entry in ld.so's list.
    void* const found = ld_symbol(const_cast<link_map*>(object->map), name, version);
    if (found != nullptr || error() == nullptr) return found;
  }
  return nullptr;
}

bool is_in_template(const void* address) {
  const Object* object = Registry::get().find(reinterpret_cast<std::uintptr_t>(address));
  return object != nullptr && object->is_template;
}

/// A function of MPI's in the facade that the caller's rank has opened with RTLD_GLOBAL, for a caller that
/// names no MPI library; null: there is none.
void* in_global_facade(const Caller& caller, const char* name, const void* from) {
  if (!is_of_mpi(name)) return nullptr;
  if (!captured()) {
    const link_map* const facade = global_facade;
    const link_map* const asks = facade != nullptr ? loaded_at(from) : nullptr;
    return asks != nullptr && !names_mpi(*asks) ? ld_symbol(const_cast<link_map*>(facade), name, nullptr)
                                                : nullptr;
  }
  if (caller.image == nullptr || names_mpi(*caller.object->map)) return nullptr;
  for (Object* const object : caller.image->plugins().globals())
    if (is_facade_for_c(*object->map)) return symbol_in({object}, name, nullptr);
  return nullptr;
}

/// Whether `found` is a function of MPI's that is there because mpiexec has preloaded libmpi_abi.so.1, and
/// that the program would not find without it: the rank has opened no MPI library, and neither the caller nor
/// what was loaded at the start names one. NEURON would take it for MPICH's. By the handle of dlopen(NULL) it
/// is found: so mpi4py learns the ABI. `from` is in the caller, if that is no code of a rank's.
bool is_only_preloaded(const Caller& caller, const char* name, const void* found, const void* from) {
  if (!is_of_mpi(name) || current_image().has_opened_mpi) return false;
  const link_map* const mpi = found != nullptr ? loaded_at(found) : nullptr;
  if (mpi == nullptr || mpi_kind_of(mpi->l_name) != MpiKind::kStandardAbi) return false;
  const link_map* const asks = caller.object != nullptr ? caller.object->map : loaded_at(from);
  if (asks == nullptr || names_mpi(*asks)) return false;
  if (caller.image == nullptr || !caller.image->program->is_other()) return !is_mpi_named_at_start(*mpi);
  return std::ranges::none_of(caller.image->program->objects,
                              [](const Object* object) { return names_mpi(*object->map); });
}

/// The definition that the caller's rank finds first: ld.so knows what was loaded at the start, and what all
/// ranks have opened with RTLD_GLOBAL. `local`: also in what was opened with the caller.
void* visible_symbol(const Caller& caller, const char* name, const char* version, bool local) {
  static constinit Hidden<char*()> error{"dlerror"};
  if (void* const in_facade = in_global_facade(caller, name, nullptr)) return in_facade;
  void* found = ld_symbol(RTLD_DEFAULT, name, version);
  if (caller.image != nullptr && local && is_only_preloaded(caller, name, found, nullptr)) found = nullptr;
  if (caller.image == nullptr || (found != nullptr && !is_in_template(found))) return found;
  Plugins& plugins = caller.image->plugins();
  const Program& program = *caller.image->program;
  found = program.is_other() ? symbol_in(program.objects, name, version) : nullptr;
  if (found == nullptr) found = symbol_in(plugins.globals(), name, version);
  if (found == nullptr && local && caller.object->is_template)
    found = symbol_in(plugins.local_scope(*caller.object), name, version);
  if (found != nullptr) error();  // of the first search
  return found;
}

/// What follows the caller in the libraries that were opened with it. Of the C library's functions those that
/// are interposed: exit() of the C library itself would end all ranks.
void* next_in_plugins(const Caller& caller, const char* name) {
  std::vector<Object*> after = caller.image->plugins().local_scope(*caller.object);
  const auto mine = std::find(after.begin(), after.end(), caller.object);
  after.erase(after.begin(), mine != after.end() ? mine + 1 : after.begin());
  void* const found = symbol_in(after, name, nullptr);
  const Object* const definer =
      found != nullptr ? Registry::get().find(reinterpret_cast<std::uintptr_t>(found)) : nullptr;
  if (definer == nullptr || definer->is_private) return found;
  static constexpr char kHere = 0;
  const Dynamic host(*loaded_at(&kHere));
  const ElfW(Sym)* const interposed = host.find(name);
  return interposed != nullptr ? address_of(host, *interposed) : found;
}

/// Whether the caller is a library that a process of one rank has opened, and asks for what is next: that
/// depends on the dlopen() that has brought it.
bool is_for_ld_so(void* handle, const void* caller) {
  if (handle != RTLD_NEXT || captured() || was_loaded_at_start(caller)) [[likely]]
    return false;
  has_own_error = false;
  return true;
}

void* symbol(void* handle, const char* name, const char* version, const void* from) {
  // Nothing is private yet. A sanitizer that is starting up may be the caller; here it must not meet its own
  // checks.
  has_own_error = false;
  if (!captured()) {
    if (handle == RTLD_NEXT) return next_symbol(name, from);
    const bool anywhere = handle == RTLD_DEFAULT || handle == first_loaded();
    if (void* const in_facade = anywhere ? in_global_facade({}, name, from) : nullptr) return in_facade;
    void* const found = ld_symbol(handle, name, version);
    if (handle == RTLD_DEFAULT && is_only_preloaded({}, name, found, from))
      return fail(base::fail(MPI_ERR_ARG, "{}: undefined symbol: {}", base::program_path(), name));
    return of_our_mpi(handle, name, found);
  }
  const Caller caller = caller_with(handle, from);
  void* found = nullptr;
  Handle* mine = nullptr;
  if (handle == RTLD_NEXT) {
    const bool in_plugin =
        caller.image != nullptr && caller.object->is_template && !caller.image->program->has(*caller.object);
    found = in_plugin ? next_in_plugins(caller, name) : next_symbol(name, from);
    if (found == nullptr) return undefined(name, caller.object);
  } else if (caller.image != nullptr && handle != RTLD_DEFAULT &&
             (mine = caller.image->plugins().find(handle)) != nullptr) {
    if (mine->object == nullptr && (found = in_program(*caller.image, name)) != nullptr) return found;
    if (mine->object != nullptr) found = symbol_in(with_all_needed(*mine->object), name, version);
    void* original = mine->object != nullptr ? const_cast<link_map*>(mine->object->map) : RTLD_DEFAULT;
    if (found == nullptr)
      found = mine->object != nullptr ? ld_symbol(original, name, version)
                                      : visible_symbol(caller, name, version, false);
    // A symbol's value may be null. ld.so's error tells the difference, but it would name a memory file.
    static constinit Hidden<char*()> error{"dlerror"};
    if (found == nullptr && error() != nullptr) return undefined(name, mine->object);
  } else if (handle == RTLD_DEFAULT && caller.image != nullptr &&
             (found = in_program(*caller.image, name)) != nullptr) {
    return found;
  } else {
    const bool anywhere = handle == RTLD_DEFAULT;
    found = anywhere ? visible_symbol(caller, name, version, true) : ld_symbol(handle, name, version);
    // Another rank may have it, so ld.so may have no error.
    if (found == nullptr && anywhere && caller.image != nullptr) return undefined(name, caller.object);
  }
  if (caller.image == nullptr || found == nullptr) return found;
  found = caller.image->variable(found);
  // A library that another rank has opened with RTLD_GLOBAL is not visible to this rank.
  return is_in_template(found) ? undefined(name, caller.object) : found;
}

}  // namespace

void* symbol_of_rank(const char* name) {
  static constinit Hidden<char*()> error{"dlerror"};
  Image* const mine = captured() ? &current_image() : nullptr;
  const Caller caller{mine != nullptr ? mine->program->main : nullptr, mine};
  void* found = visible_symbol(caller, name, nullptr, false);
  error();  // the program has asked for nothing
  if (mine != nullptr && found != nullptr) found = mine->variable(found);
  return mine != nullptr && is_in_template(found) ? nullptr : found;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API void* dlopen(const char* name, int flags) {
  const NoFork no_fork;
  const NoCancel no_cancel;
  return open(name, flags, __builtin_return_address(0));
}

/// In the namespace of the program it is dlopen(). What comes into another namespace ld.so loads for this
/// call alone, with a C library of its own: no rank has it but the one that calls.
CLUMP_HOST_API void* dlmopen(Lmid_t space, const char* name, int flags) {
  static constinit Hidden<void*(Lmid_t, const char*, int)> real{"dlmopen"};
  const NoFork no_fork;
  const NoCancel no_cancel;
  if (space == LM_ID_BASE) return open(name, flags, __builtin_return_address(0));
  has_own_error = false;
  return real(space, name, flags);
}

// ld.so looks where the function returns to for the library that asks for what is next. So these two end with
// the call of ld.so's, and do not return to here. Clang has no such attribute: there an optimised build does
// so.
#ifdef __clang__
#define ENDS_WITH_CALL
#else
#define ENDS_WITH_CALL __attribute__((optimize("O2")))
#endif

CLUMP_HOST_API ENDS_WITH_CALL void* dlsym(void* handle, const char* name) {
  static constinit Hidden<void*(void*, const char*)> real{"dlsym"};
  const void* const caller = __builtin_return_address(0);
  if (!is_for_ld_so(handle, caller)) return symbol(handle, name, nullptr, caller);
  return (*real)(handle, name);
}

CLUMP_HOST_API ENDS_WITH_CALL void* dlvsym(void* handle, const char* name, const char* version) {
  static constinit Hidden<void*(void*, const char*, const char*)> real{"dlvsym"};
  const void* const caller = __builtin_return_address(0);
  if (!is_for_ld_so(handle, caller)) return symbol(handle, name, version, caller);
  return (*real)(handle, name, version);
}

CLUMP_HOST_API int dlclose(void* handle) {
  static constinit Hidden<int(void*)> real{"dlclose"};
  const NoFork no_fork;
  has_own_error = false;
  const Caller caller = caller_with(handle, __builtin_return_address(0));
  Handle* mine = caller.image != nullptr ? caller.image->plugins().find(handle) : nullptr;
  if (mine == nullptr) {
    const std::scoped_lock lock(open_lock);
    return real(handle);
  }
  caller.image->plugins().close(*mine);
  return 0;
}

CLUMP_HOST_API char* dlerror() {
  static constinit Hidden<char*()> real{"dlerror"};
  if (!has_own_error) return real();
  LastError& error = last_error();
  real();  // an error of ld.so would be older
  if (error.told) return nullptr;
  error.told = true;
  return error.text.data();
}

CLUMP_HOST_API int dlinfo(void* handle, int request, void* result) {
  static constinit Hidden<int(void*, int, void*)> real{"dlinfo"};
  const Caller caller = caller_with(handle, __builtin_return_address(0));
  Handle* mine = caller.image != nullptr ? caller.image->plugins().find(handle) : nullptr;
  if (mine == nullptr) return real(handle, request, result);
  const Object& object = mine->object != nullptr ? *mine->object : *caller.image->program->main;
  Instance* const copy = caller.image->instance(object);
  switch (copy != nullptr ? request : 0) {
    case RTLD_DI_LINKMAP:
      *static_cast<link_map**>(result) = &copy->map;
      return 0;
    case RTLD_DI_ORIGIN: {
      // The caller has room for it: that is all that the interface says.
      const std::size_t slash = object.path.rfind('/');
      if (slash == std::string::npos) return real(const_cast<link_map*>(object.map), request, result);
      const std::size_t folder = std::max<std::size_t>(slash, 1);
      std::memcpy(result, object.path.data(), folder);
      static_cast<char*>(result)[folder] = '\0';
      return 0;
    }
    case kProgramHeaders:
      *static_cast<const ElfW(Phdr)**>(result) = object.segments.data();
      return static_cast<int>(object.segments.size());
    default:
      return real(const_cast<link_map*>(object.map), request, result);
  }
}

}  // extern "C"
