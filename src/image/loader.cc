#include "image/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "base/environment.h"
#include "image/doors.h"
#include "image/facade.h"
#include "image/image.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/relocations.h"
#include "image/sentinels.h"
#include "image/template_file.h"
#include "inspect/arch.h"
#include "inspect/elf_file.h"
#include "inspect/mpi_library.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

std::atomic<StackHook> stack_hook{nullptr};

/// One dlopen() of a rank, or the load of a program (`rank` is null). Used under the loader's lock.
struct Loading {
  const Image* rank;
  std::vector<Object*> found{};  ///< the libraries that it has come to so far
  /// The paths of libraries that are being loaded, so that circular needs come to an end.
  std::vector<std::string> under_way{};
  /// Libraries that need one which is being loaded, and its path.
  std::vector<std::pair<Object*, std::string>> waiting{};
};

bool answers_to(const Object& object, const std::string& name) {
  return (object.dynamic.soname != nullptr && name == object.dynamic.soname) || name == object.name();
}

const char* name_to_others(const Object& object) {
  return object.dynamic.soname != nullptr ? object.dynamic.soname : object.name();
}

/// Whether the rank runs on the object, so that ld.so would not look at a file.
bool is_open(const Object& object, const Image* rank) {
  if (!object.is_template) return true;
  const Instance* mine = rank != nullptr ? rank->instance(object) : nullptr;
  return mine != nullptr && (mine->opened > 0 || mine->pinned);
}

/// The library of that name which is there for the rank already; for a program, the first that is loaded.
Object* find_named(const std::string& name, const Loading& loading) {
  const auto answers = [&](const Object* object) { return answers_to(*object, name); };
  const Registry& registry = Registry::get();
  const auto& originals = registry.originals();
  if (const auto found = std::ranges::find_if(originals, answers); found != originals.end()) return *found;
  if (loading.rank == nullptr) {
    for (int id = 0; id < registry.size(); ++id) {
      Object& object = registry.at(id);
      if (object.snapshot.taken() && answers(&object)) return &object;
    }
    return nullptr;
  }
  if (const auto found = std::ranges::find_if(loading.found, answers); found != loading.found.end())
    return *found;
  for (const Instance* mine : loading.rank->instances()) {
    if (is_open(mine->object, loading.rank) && answers(&mine->object)) return &mine->object;
  }
  return nullptr;
}

FileIdentity identity_at(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? FileIdentity(info) : FileIdentity();
}

/// A sum of a file's bytes.
std::uint64_t sum_of(std::span<const std::byte> bytes) {
  std::uint64_t sum = 0xcbf29ce484222325;
  while (!bytes.empty()) {
    std::uint64_t word = 0;
    const std::size_t some = std::min(bytes.size(), sizeof word);
    std::memcpy(&word, bytes.data(), some);
    sum = (sum ^ word) * 0x9e3779b97f4a7c15;
    sum ^= sum >> 29;
    bytes = bytes.subspan(some);
  }
  return sum | 1;
}

/// What tells versions of a file apart that have one time: a sum, if the file was written so short before
/// that it may be written again within the tick of its file system's clock. 0: the time will do.
std::uint64_t content_of(const ElfFile& file) {
  constexpr std::time_t kTick = 2;
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return now.tv_sec - file.identity().written.tv_sec > kTick ? 0 : sum_of(file.bytes());
}

bool has_same_content(Object& object) {
  if (object.content == 0) return true;
  const ElfFile file(object.path);
  if (object.content != sum_of(file.bytes())) return false;
  object.content = content_of(file);
  return true;
}

/// Whether the object is what a load of its file would give the rank now: the file is the same, and so is
/// what the library needs.
bool is_current(Object& object, const FileIdentity& at_path, Loading& loading, std::vector<Object*>& seen) {
  if (std::ranges::find(seen, &object) != seen.end()) return true;
  seen.push_back(&object);
  if (!object.snapshot.taken() || !object.file.same_version(at_path)) return false;
  if (!has_same_content(object)) return false;
  return std::ranges::all_of(object.needed, [&](Object* needed) {
    if (!needed->is_template) return true;
    if (const Object* const other = find_named(name_to_others(*needed), loading)) return other == needed;
    return is_current(*needed, identity_at(needed->path), loading, seen);
  });
}

base::Status load(const std::string& given, int flags, Loading& loading, Object** object);

/// What stands for a path: a link's target, and a facade for another MPI library. That of a template leads to
/// whatever has the number of its descriptor by now.
std::string file_of(const std::string& given) {
  if (is_memory_file(given.c_str())) return given;
  if (std::string facade = facade_for(given); !facade.empty()) return facade;
  char resolved[PATH_MAX];
  return realpath(given.c_str(), resolved) != nullptr ? resolved : given;
}

/// Finds the object that is there under a name, or loads it. Null while it is being loaded: `path` gets its
/// path.
base::Status load_one_needed(const std::string& name, const SearchPaths& paths, const std::string& by,
                             Loading& loading, std::string* path, Object** object) {
  *object = find_named(name, loading);
  if (*object != nullptr) return {};
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  std::string found = facade_for(name);
  if (found.empty()) found = find_library(name, paths, {}, library_path != nullptr ? library_path : "");
  if (found.empty()) found = own_fortran_library(name);
  if (found.empty()) {
    return base::fail(MPI_ERR_ARG,
                      "{}: cannot open shared object file: No such file or directory (needed by {})", name,
                      by);
  }
  *path = file_of(found);
  if (std::ranges::find(loading.under_way, *path) != loading.under_way.end()) return {};
  return load(found, RTLD_NOW, loading, object);
}

/// Makes the definitions of a template visible to all that ld.so loads after it.
void make_visible(const Object& object) { ld_open(object.map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL); }

/// Loads what `file` needs before the file itself, so that ld.so finds all of it loaded.
base::Status load_needed(const ElfFile& file, const std::string& path, Loading& loading, Needs* needs) {
  const SearchPaths paths = search_paths_of(file, path);
  const std::vector<std::string> names = file.strings(DT_NEEDED);
  const std::span<const ElfW(Dyn)> entries = file.dynamic();
  std::size_t next_name = 0;
  for (std::size_t i = 0; i < entries.size() && next_name < names.size(); ++i) {
    if (entries[i].d_tag != DT_NEEDED) continue;
    Object* object = nullptr;
    std::string needed_path;
    CLUMP_TRY(load_one_needed(names[next_name++], paths, path, loading, &needed_path, &object));
    if (object == nullptr) {
      needs->unnamed.push_back(i);
      needs->under_way.push_back(needed_path);
      continue;
    }
    needs->objects.push_back(object);
    if (!object->is_template || object->dynamic.soname != nullptr) continue;
    make_visible(*object);
    needs->unnamed.push_back(i);
  }
  return {};
}

/// Makes ld.so load the file. Its snapshot is still to be taken.
base::Status map_template(const ElfFile& file, const std::string& path, int flags, Loading& loading,
                          Object** object) {
  if (Registry::get().room() == 0)
    return cannot_open(path,
                       "no more libraries and versions of libraries fit into a process of several ranks: "
                       "use --ranks processes");
  Needs needs;
  CLUMP_TRY(load_needed(file, path, loading, &needs));
  MemoryFile memory;
  CLUMP_TRY(make_memory_file(file, path, needs, &memory));
  if (ld_open(memory.path.c_str(), RTLD_NOW | (flags & RTLD_GLOBAL)) == nullptr) {
    std::string words = ld_error();
    if (const std::size_t at = words.find(memory.path); at != std::string::npos)
      words.replace(at, memory.path.size(), path);
    return base::fail_with_text(MPI_ERR_ARG, std::move(words));
  }
  *object = Registry::get().add_template(path, file.identity());
  if (*object == nullptr) return cannot_open(path, "ld.so did not list it");
  bind_to_facade(*(*object)->map, nullptr);
  bind_sentinels(*(*object)->map);
  restore_constructors((*object)->dynamic, file);
  (*object)->needed = std::move(needs.objects);
  (*object)->required = std::move(needs.required);
  (*object)->content = content_of(file);
  for (const std::string& needed : needs.under_way) loading.waiting.emplace_back(*object, needed);
  return {};
}

base::Status load_template(const ElfFile& file, const std::string& path, int flags, Loading& loading,
                           Object** object) {
  CLUMP_TRY(map_template(file, path, flags, loading, object));
  refuse_calls_of(**object);                  // NOLINT: as below
  return (*object)->snapshot.take(**object);  // NOLINT: if there were none, map_template() would have failed
}

/// Checks the thread-local variables of a program. Those of all programs have the same place, so the main
/// program's must leave enough room.
base::Status check_tls(const ElfFile& file, const std::string& path) {
  const ElfW(Phdr)* wanted = file.segment(PT_TLS);
  if (wanted == nullptr) return {};
  const Object& main = Registry::get().at(0);
  const ElfW(Phdr)* room = main.segment(PT_TLS);
  if (room != nullptr && arch::tls_bytes(*room) >= arch::tls_bytes(*wanted) &&
      room->p_align >= wanted->p_align)
    return {};
  return base::fail(MPI_ERR_SPAWN,
                    "{} has more thread-local variables than {}, which is the job's first program: name the "
                    "program with the most "
                    "thread-local variables first",
                    path, main.path);
}

/// The object that the rank has open of a path, or of the file that is there now. For null: a shared one.
Object* find_open_file(const std::string& path, const FileIdentity& now, const Image* rank) {
  const Registry& registry = Registry::get();
  // A facade that is a template is asked for by the name that ld.so knows.
  if (is_memory_file(path.c_str())) {
    for (int id = 0; id < registry.size(); ++id) {
      Object& object = registry.at(id);
      if (object.is_template && path == object.map->l_name) return &object;
    }
  }
  for (const auto* versions : {&registry.from_path(path), &registry.from_file(now)}) {
    for (Object* const version : *versions) {
      if (is_open(*version, rank)) return version;
    }
  }
  return nullptr;
}

base::Status load_new(const std::string& path, int flags, Loading& loading, Object** object) {
  const ElfFile file(path);
  if (file.bytes().empty())
    return cannot_open(path, "cannot open shared object file: No such file or directory");
  if (!file.valid() || file.dynamic().empty()) return cannot_open(path, "invalid ELF header");
  const ElfW(Dyn)* flags_1 = file.entry(DT_FLAGS_1);
  if (file.header().e_type != ET_DYN || (flags_1 != nullptr && (flags_1->d_un.d_val & DF_1_PIE) != 0)) {
    return cannot_open(path, "cannot dynamically load position-independent executable");
  }
  const std::string soname = file.first_string(DT_SONAME);
  if (is_shared_library(soname.empty() ? path.c_str() + path.rfind('/') + 1 : soname.c_str())) {
    // With glibc a handle is the object's entry in ld.so's list. It is kept for ever.
    const auto* const map =
        static_cast<const link_map*>(ld_open(path.c_str(), RTLD_NOW | (flags & RTLD_GLOBAL)));
    if (map == nullptr) return base::fail_with_text(MPI_ERR_ARG, ld_error());
    *object = Registry::get().add(*map);
    return *object != nullptr ? base::Status{} : cannot_open(path, "too many libraries are open");
  }
  if (file.has_text_relocations())
    return cannot_open(path,
                       "it has relocations in its code, of which each rank would need a copy: compile all "
                       "of it with -fPIC, or use --ranks processes");
  loading.under_way.push_back(path);
  const base::Status loaded = load_template(file, path, flags, loading, object);
  loading.under_way.pop_back();
  for (const auto& [user, needed] : loading.waiting) {
    if (needed != path) continue;
    if (loaded.ok()) user->needed.push_back(*object);
    if (!loaded.ok()) user->file = {};  // of use to nobody: it lacks what it needs
  }
  return loaded;
}

/// Whether a program and its libraries define what they must have of each other.
base::Status check_defined(const std::vector<Object*>& objects) {
  for (const Object* object : objects) {
    for (const auto& [word, bound] : object->snapshot.references) {
      const bool required = word.number < object->required.size() && object->required[word.number];
      const char* const name = word.name;
      const auto defines = [&](const Object* other) { return other->dynamic.find(name) != nullptr; };
      if (bound == Reference::kNothing && required && std::ranges::none_of(objects, defines))
        return base::fail(MPI_ERR_SPAWN, "{}: undefined symbol: {}", object->path, name);
    }
  }
  return {};
}

base::Status load(const std::string& given, int flags, Loading& loading, Object** object) {
  const std::string path = file_of(given);
  const FileIdentity now = identity_at(path);
  *object = find_open_file(path, now, loading.rank);
  if (*object == nullptr) {
    std::vector<Object*> versions = Registry::get().from_file(now);
    const auto fits = [&](Object* version) {
      std::vector<Object*> seen;
      return !version->is_program && is_current(*version, now, loading, seen);
    };
    const auto found = std::find_if(versions.rbegin(), versions.rend(), fits);
    if (found != versions.rend()) {
      *object = *found;
    } else {
      CLUMP_TRY(load_new(path, flags, loading, object));
    }
  }
  if ((*object)->is_template && (flags & RTLD_GLOBAL) != 0) make_visible(**object);
  loading.found.push_back(*object);
  return {};
}

}  // namespace

RecursiveForkMutex& loader_lock() {
  static auto& lock = *new RecursiveForkMutex;
  return lock;
}

base::Status load_library(const std::string& path, int flags, const Image& rank, Object** object) {
  const std::scoped_lock lock(loader_lock());
  Loading loading{&rank};
  return load(path, flags, loading, object);
}

Object* find_open(const std::string& path, const Image& rank) {
  const std::scoped_lock lock(loader_lock());
  const std::string file = file_of(path);
  return find_open_file(file, identity_at(file), &rank);
}

base::Status load_executable(const std::string& path, Object** object) {
  const std::scoped_lock lock(loader_lock());
  const ElfFile file(path);
  if (!file.valid() || file.dynamic().empty() || file.header().e_type != ET_DYN) {
    return cannot_open(path, "not a position-independent program");
  }
  CLUMP_TRY(check_tls(file, path));
  // A library of the program may use libm and not name it (inspect.h, late_calls).
  if (const auto* const math = static_cast<const link_map*>(ld_open("libm.so.6", RTLD_NOW | RTLD_GLOBAL)))
    Registry::get().add(*math);
  // Global, because its plugins may use what it defines.
  Loading loading{nullptr};
  CLUMP_TRY(map_template(file, path, RTLD_GLOBAL, loading, object));
  (*object)->is_program = true;
  CLUMP_TRY(repeat_copies(**object));
  CLUMP_TRY((*object)->snapshot.take(**object));
  return check_defined(with_needed(**object));
}

std::string resolve_library(const std::string& name, const Object* by, const Image& rank) {
  if (name.find('/') != std::string::npos) return name;
  const std::scoped_lock lock(loader_lock());
  if (const Object* loaded = find_named(name, Loading{&rank})) return loaded->path;
  if (std::string facade = facade_for(name); !facade.empty()) return facade;
  SearchPaths paths;
  std::vector<std::string> inherited;
  if (by != nullptr) paths = search_paths_of(ElfFile(by->path), by->path);
  const Object& program = Registry::get().at(0);
  if (by != &program) inherited = search_paths_of(ElfFile(program.path), program.path).rpath;
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  return find_library(name, paths, inherited, library_path != nullptr ? library_path : "");
}

std::vector<Object*> with_all_needed(Object& object) {
  std::vector<Object*> all{&object};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (Object* needed : all[i]->needed) {
      if (std::find(all.begin(), all.end(), needed) == all.end()) all.push_back(needed);
    }
  }
  return all;
}

std::vector<Object*> with_needed(Object& object) {
  std::vector<Object*> all{&object};
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (Object* needed : all[i]->needed) {
      if (needed->is_private && std::find(all.begin(), all.end(), needed) == all.end()) all.push_back(needed);
    }
  }
  return all;
}

void* ld_open(const char* path, int flags) {
  static constinit Hidden<void*(const char*, int)> real{"dlopen"};
  void* const handle = real(path, flags);
  // acquire: pairs with release in on_executable_stacks()
  if (StackHook const hook = stack_hook.load(std::memory_order_acquire);
      handle != nullptr && hook != nullptr && wants_executable_stacks())
    hook();
  return handle;
}

bool wants_executable_stacks() {
  using Visitor = int (*)(dl_phdr_info*, std::size_t, void*);
  static constinit Hidden<int(Visitor, void*)> visit{"dl_iterate_phdr"};
  const Visitor wants = [](dl_phdr_info* info, std::size_t, void*) {
    const std::span<const ElfW(Phdr)> segments(info->dlpi_phdr, info->dlpi_phnum);
    return static_cast<int>(std::ranges::any_of(segments, [](const ElfW(Phdr) & segment) {
      return segment.p_type == PT_GNU_STACK && (segment.p_flags & PF_X) != 0;
    }));
  };
  return visit(wants, static_cast<void*>(nullptr)) != 0;
}

void on_executable_stacks(StackHook hook) {
  stack_hook.store(hook, std::memory_order_release);  // release: pairs with acquire in ld_open()
}

std::string ld_error() {
  static constinit Hidden<char*()> real{"dlerror"};
  const char* words = real();
  return words != nullptr ? words : "ld.so gave no reason";
}

}  // namespace clump::image
