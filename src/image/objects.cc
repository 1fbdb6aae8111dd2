#include "image/objects.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string_view>

#include "base/program_path.h"
#include "image/search.h"

namespace clump::image {
namespace {

constexpr int kMaxObjects = 8192;
constexpr std::size_t kPage = 4096;
constexpr char kMemoryFile[] = "/proc/self/fd/";

std::atomic<Object*> objects[kMaxObjects];
std::atomic<int> object_count{0};

/// Only ld.so knows where an object's program headers are.
void read_segments(const link_map& map, std::vector<ElfW(Phdr)>& segments, std::size_t& tls_module) {
  struct Search {
    const link_map& map;
    std::vector<ElfW(Phdr)>& segments;
    std::size_t& tls_module;
  } search{map, segments, tls_module};
  static constinit Hidden<int(int (*)(dl_phdr_info*, std::size_t, void*), void*)> real{"dl_iterate_phdr"};
  (*real)(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        auto& search = *static_cast<Search*>(argument);
        if (info->dlpi_addr != search.map.l_addr || std::strcmp(info->dlpi_name, search.map.l_name) != 0)
          return 0;
        search.segments.assign(info->dlpi_phdr, info->dlpi_phdr + info->dlpi_phnum);
        search.tls_module = info->dlpi_tls_modid;
        return 1;
      },
      &search);
}

bool same_file(const std::string& a, const std::string& b) {
  if (a == b) return true;
  struct stat first {};
  struct stat second {};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

/// Matches the names in DT_NEEDED with the loaded objects.
void link_needed(Object& object) {
  const Registry& registry = Registry::get();
  object.needed.clear();
  for (const ElfW(Dyn)* entry = object.map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* name = object.dynamic.strings + entry->d_un.d_val;
    for (int id = 0; id < registry.size(); ++id) {
      Object& other = registry.at(id);
      const bool named = other.dynamic.soname != nullptr && std::strcmp(other.dynamic.soname, name) == 0;
      if (named || std::strcmp(other.name(), name) == 0 || other.path == name) {
        object.needed.push_back(&other);
        break;
      }
    }
  }
}

}  // namespace

Object::Object(const link_map& loaded, std::string file)
    : map(&loaded), path(std::move(file)), dynamic(loaded) {
  read_segments(loaded, segments, tls_module);
  begin = ~std::uintptr_t{0};
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    const std::uintptr_t from = dynamic.base + segment.p_vaddr;
    begin = std::min(begin, from & ~(kPage - 1));
    end = std::max(end, (from + segment.p_memsz + kPage - 1) & ~(kPage - 1));
    alignment = std::max<std::size_t>(alignment, segment.p_align);
  }
  if (end == 0) begin = 0;
}

const ElfW(Phdr) * Object::segment(std::uint32_t type) const {
  for (const ElfW(Phdr) & segment : segments) {
    if (segment.p_type == type) return &segment;
  }
  return nullptr;
}

const char* Object::name() const {
  const std::size_t slash = path.rfind('/');
  return path.c_str() + (slash == std::string::npos ? 0 : slash + 1);
}

Registry& Registry::get() {
  static constinit Registry registry;
  return registry;
}

std::vector<Object*> Registry::update(const std::string& path_of_new) {
  std::vector<Object*> added;
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    if (map->l_ld == nullptr || find_map(map) != nullptr) continue;
    const bool memory_file = std::strncmp(map->l_name, kMemoryFile, sizeof kMemoryFile - 1) == 0;
    std::string path = map == first_loaded() ? base::program_path() : memory_file ? path_of_new : map->l_name;
    auto object = std::make_unique<Object>(*map, std::move(path));
    object->is_template = memory_file;
    added.push_back(object.get());
    add(std::move(object));
  }
  for (Object* object : added) link_needed(*object);
  return added;
}

void Registry::add(std::unique_ptr<Object> object) {
  const int id = object_count.load(std::memory_order_relaxed);
  if (id == kMaxObjects) return;
  object->id = id;
  objects[id].store(object.release(), std::memory_order_relaxed);
  object_count.store(id + 1, std::memory_order_release);  // release: pairs with acquire in size()
}

int Registry::size() const {
  return object_count.load(std::memory_order_acquire);
}  // acquire: pairs with add()

Object& Registry::at(int id) const { return *objects[id].load(std::memory_order_relaxed); }

Object* Registry::find(std::uintptr_t address) const {
  for (int id = size() - 1; id >= 0; --id) {
    if (at(id).holds(address)) return &at(id);
  }
  return nullptr;
}

Object* Registry::find_file(const std::string& path) const {
  for (int id = 0; id < size(); ++id) {
    if (same_file(at(id).path, path)) return &at(id);
  }
  return nullptr;
}

Object* Registry::find_map(const link_map* map) const {
  for (int id = 0; id < size(); ++id) {
    if (at(id).map == map) return &at(id);
  }
  return nullptr;
}

std::vector<Object*> interposers() {
  static constexpr char kHere = 0;
  const Registry& registry = Registry::get();
  std::vector<Object*> found;
  for (int id = 1; id < registry.size(); ++id) {
    Object& object = registry.at(id);
    if (object.holds(reinterpret_cast<std::uintptr_t>(&kHere))) break;
    const bool shared = is_shared_library(object.name()) ||
                        (object.dynamic.soname != nullptr && is_shared_library(object.dynamic.soname));
    if (!shared) found.push_back(&object);
  }
  return found;
}

void choose_private_objects() {
  std::vector<Object*> found = interposers();
  found.insert(found.begin(), &Registry::get().at(0));
  found.front()->is_program = true;
  for (Object* root : found) root->is_private = true;
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (Object* needed : found[i]->needed) {
      if (needed->is_private || is_shared_library(needed->name())) continue;
      if (needed->dynamic.soname != nullptr && is_shared_library(needed->dynamic.soname)) continue;
      needed->is_private = true;
      found.push_back(needed);
    }
  }
}

}  // namespace clump::image
