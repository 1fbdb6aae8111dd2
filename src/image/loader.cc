#include "image/loader.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>

#include "base/environment.h"
#include "base/memory_file.h"
#include "base/why_refused.h"
#include "image/arch.h"
#include "image/elf_file.h"
#include "image/facade.h"
#include "image/image.h"
#include "image/mpi_library.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/relocations.h"
#include "image/search.h"
#include "image/sentinels.h"

namespace clump::image {
namespace {

std::atomic<StackHook> stack_hook{nullptr};

/// The names of libraries that are being loaded, so that circular needs come to an end.
std::vector<std::string>& under_way() {
  static auto& names = *new std::vector<std::string>;
  return names;
}

bool answers_to(const Object& object, const std::string& name) {
  return (object.dynamic.soname != nullptr && name == object.dynamic.soname) || name == object.name();
}

Object* find_loaded(const std::string& name) {
  const Registry& registry = Registry::get();
  for (int id = 0; id < registry.size(); ++id) {
    if (answers_to(registry.at(id), name)) return &registry.at(id);
  }
  return nullptr;
}

base::Status cannot_open(const std::string& path, std::string_view why) {
  return base::fail(MPI_ERR_ARG, "{}: {}", path, why);
}

/// What a library needs, loaded before the library.
struct Needs {
  /// The numbers, among the entries of the dynamic section, of needs that ld.so would not recognise as
  /// loaded, because a memory file without a SONAME has only its own path as its name. ld.so does not see
  /// these needs; it finds their symbols in the global scope.
  std::vector<std::size_t> unnamed;
  std::vector<Object*> unnamed_objects;
};

/// Removes the entries by which ld.so would run code, or refuse to load or to unload the library.
void neutralise(std::byte* bytes, const ElfFile& file, const Needs& needs) {
  const ElfW(Phdr)* segment = file.segment(PT_DYNAMIC);
  auto* entries = reinterpret_cast<ElfW(Dyn)*>(bytes + segment->p_offset);
  for (const std::size_t i : needs.unnamed) entries[i].d_tag = DT_DEBUG;
  for (std::size_t i = 0; i < file.dynamic().size(); ++i) {
    ElfW(Dyn)& entry = entries[i];
    switch (entry.d_tag) {
      case DT_INIT:
      case DT_FINI:
        entry.d_tag = DT_DEBUG;  // an entry that ld.so ignores in a library
        break;
      case DT_INIT_ARRAYSZ:
      case DT_FINI_ARRAYSZ:
      case DT_PREINIT_ARRAYSZ:
        entry.d_un.d_val = 0;
        break;
      case DT_FLAGS_1:
        entry.d_un.d_val &= ~static_cast<std::uint64_t>(DF_1_INITFIRST | DF_1_PIE | DF_1_NOOPEN);
        break;
      default:
        break;
    }
  }
}

/// Makes a memory file with the neutralised library. It stays open: ld.so takes a path that it has seen for
/// the same file.
base::Status make_memory_file(const ElfFile& file, const std::string& path, const Needs& needs,
                              std::string* memory_path) {
  if (access("/proc/self/fd", X_OK) != 0)
    return cannot_open(path,
                       "each rank gets a copy of it, which Clump opens by way of /proc/self/fd, and /proc is "
                       "not mounted here: "
                       "mount it (mount -t proc proc /proc), or use --ranks processes");
  const std::size_t size = file.bytes().size();
  const int low = base::memory_file("clump-template", true);
  if (low < 0) return cannot_open(path, base::why_refused("memfd_create", errno));
  const int fd = move_up(low);
  void* map =
      base::set_size(fd, size) ? mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
  if (map == MAP_FAILED) {
    const std::string why = base::why_refused("ftruncate or mmap", errno);
    close(fd);
    return cannot_open(path, why);
  }
  std::memcpy(map, file.bytes().data(), size);
  neutralise(static_cast<std::byte*>(map), file, needs);
  munmap(map, size);
  *memory_path = fmt::format("/proc/self/fd/{}", fd);
  return {};
}

/// Restores the constructors and destructors that ld.so was not told about.
void restore_constructors(Dynamic& dynamic, const ElfFile& file) {
  const auto address = [&](ElfW(Sxword) tag) -> std::uintptr_t {
    const ElfW(Dyn)* entry = file.entry(tag);
    return entry != nullptr ? dynamic.base + entry->d_un.d_ptr : 0;
  };
  const auto count = [&](ElfW(Sxword) tag) -> std::size_t {
    const ElfW(Dyn)* entry = file.entry(tag);
    return entry != nullptr ? entry->d_un.d_val / sizeof(std::uintptr_t) : 0;
  };
  dynamic.init = address(DT_INIT);
  dynamic.fini = address(DT_FINI);
  dynamic.preinit_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_PREINIT_ARRAY)),
                           count(DT_PREINIT_ARRAYSZ)};
  dynamic.init_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_INIT_ARRAY)),
                        count(DT_INIT_ARRAYSZ)};
  dynamic.fini_array = {reinterpret_cast<const std::uintptr_t*>(address(DT_FINI_ARRAY)),
                        count(DT_FINI_ARRAYSZ)};
}

/// Finds the object that is loaded under a name, or loads it; null while it is being loaded.
base::Status load_one_needed(const std::string& name, const SearchPaths& paths, const std::string& by,
                             Object** object) {
  *object = find_loaded(name);
  if (*object != nullptr) return {};
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  std::string found = facade_for(name);
  if (found.empty()) found = find_library(name, paths, {}, library_path != nullptr ? library_path : "");
  if (found.empty()) {
    return base::fail(MPI_ERR_ARG,
                      "{}: cannot open shared object file: No such file or directory (needed by {})", name,
                      by);
  }
  if (std::find(under_way().begin(), under_way().end(), found) != under_way().end()) return {};
  return load_library(found, RTLD_NOW, object);
}

/// Loads what `file` needs before the file itself, so that ld.so finds all of it loaded.
base::Status load_needed(const ElfFile& file, const std::string& path, Needs* needs) {
  const SearchPaths paths = search_paths_of(file, path);
  const std::vector<std::string> names = file.strings(DT_NEEDED);
  const std::span<const ElfW(Dyn)> entries = file.dynamic();
  std::size_t next_name = 0;
  for (std::size_t i = 0; i < entries.size() && next_name < names.size(); ++i) {
    if (entries[i].d_tag != DT_NEEDED) continue;
    Object* object = nullptr;
    CLUMP_TRY(load_one_needed(names[next_name++], paths, path, &object));
    if (object == nullptr || !object->is_template || object->dynamic.soname != nullptr) continue;
    CLUMP_TRY(load_library(object->path, RTLD_NOW | RTLD_GLOBAL, &object));
    needs->unnamed.push_back(i);
    needs->unnamed_objects.push_back(object);
  }
  return {};
}

/// Makes ld.so load the file. Its snapshot is still to be taken.
base::Status map_template(const ElfFile& file, const std::string& path, int flags, Object** object) {
  Needs needs;
  CLUMP_TRY(load_needed(file, path, &needs));
  std::string memory_path;
  CLUMP_TRY(make_memory_file(file, path, needs, &memory_path));
  if (ld_open(memory_path.c_str(), RTLD_NOW | (flags & RTLD_GLOBAL)) == nullptr) {
    std::string words = ld_error();
    if (const std::size_t at = words.find(memory_path); at != std::string::npos)
      words.replace(at, memory_path.size(), path);
    return base::fail_with_text(MPI_ERR_ARG, std::move(words));
  }
  for (Object* added : Registry::get().update(path)) {
    if (added->is_template) *object = added;
  }
  if (*object == nullptr) return cannot_open(path, "ld.so did not list it");
  if (uses_facade(*(*object)->map)) bind_to_facade(*(*object)->map);
  bind_sentinels(*(*object)->map);
  restore_constructors((*object)->dynamic, file);
  (*object)->needed.insert((*object)->needed.end(), needs.unnamed_objects.begin(),
                           needs.unnamed_objects.end());
  (*object)->is_private = true;
  return {};
}

base::Status load_template(const ElfFile& file, const std::string& path, int flags, Object** object) {
  CLUMP_TRY(map_template(file, path, flags, object));
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

base::Status load_new(const std::string& path, int flags, Object** object) {
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
    if (ld_open(path.c_str(), RTLD_NOW | (flags & RTLD_GLOBAL)) == nullptr)
      return base::fail_with_text(MPI_ERR_ARG, ld_error());
    Registry::get().update();
    *object = Registry::get().find_file(path);
    return *object != nullptr ? base::Status{} : cannot_open(path, "ld.so did not list it");
  }
  under_way().push_back(path);
  const base::Status loaded = load_template(file, path, flags, object);
  under_way().pop_back();
  return loaded;
}

}  // namespace

ForkSafe<std::recursive_mutex>& loader_lock() {
  static auto& lock = *new ForkSafe<std::recursive_mutex>;
  return lock;
}

base::Status load_library(const std::string& given, int flags, Object** object) {
  const std::scoped_lock lock(loader_lock());
  char resolved[PATH_MAX];
  std::string path = realpath(given.c_str(), resolved) != nullptr ? resolved : given;
  if (const std::string facade = facade_for(given); !facade.empty()) path = facade;
  *object = Registry::get().find_file(path);
  if (*object == nullptr) return load_new(path, flags, object);
  if ((*object)->is_template && (flags & RTLD_GLOBAL) != 0) {
    ld_open((*object)->map->l_name, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
  }
  return {};
}

base::Status load_executable(const std::string& path, Object** object) {
  const std::scoped_lock lock(loader_lock());
  const ElfFile file(path);
  if (!file.valid() || file.dynamic().empty() || file.header().e_type != ET_DYN) {
    return cannot_open(path, "not a position-independent program");
  }
  CLUMP_TRY(check_tls(file, path));
  // Global, because its plugins may use what it defines.
  CLUMP_TRY(map_template(file, path, RTLD_GLOBAL, object));
  (*object)->is_program = true;
  CLUMP_TRY(repeat_copies(**object));
  return (*object)->snapshot.take(**object);  // NOLINT: if there were none, map_template() would have failed
}

std::string resolve_library(const std::string& name, const Object* by) {
  if (name.find('/') != std::string::npos) return name;
  const std::scoped_lock lock(loader_lock());
  if (const Object* loaded = find_loaded(name)) return loaded->path;
  if (std::string facade = facade_for(name); !facade.empty()) return facade;
  SearchPaths paths;
  std::vector<std::string> inherited;
  if (by != nullptr) paths = search_paths_of(ElfFile(by->path), by->path);
  const Object& program = Registry::get().at(0);
  if (by != &program) inherited = search_paths_of(ElfFile(program.path), program.path).rpath;
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  return find_library(name, paths, inherited, library_path != nullptr ? library_path : "");
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
