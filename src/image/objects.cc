#include "image/objects.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/program_path.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

/// More than the kernel allows a process by default: 65,530 mappings, of which an object takes several.
constexpr int kMaxObjects = 32768;
constexpr std::size_t kPage = 4096;
constexpr char kMemoryFile[] = "/proc/self/fd/";

std::atomic<Object*> objects[kMaxObjects];
/// Where an object is, apart from the object: find() looks at all of them.
struct Range {
  std::uintptr_t begin;
  std::uintptr_t bytes;
};
Range ranges[kMaxObjects];
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

FileIdentity identity_of(const std::string& path) {
  struct stat info {};
  return stat(path.c_str(), &info) == 0 ? FileIdentity(info) : FileIdentity();
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

bool is_memory_file(const char* name) { return std::strncmp(name, kMemoryFile, sizeof kMemoryFile - 1) == 0; }

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

struct Registry::Tables {
  std::unordered_map<const link_map*, Object*> by_map;
  std::unordered_map<std::string, std::vector<Object*>> by_path;
  std::map<std::pair<dev_t, ino_t>, std::vector<Object*>> by_file;
  std::vector<Object*> originals;
  /// ld.so never unloads it, and what it loads later stands behind it: the last one of the start, or a
  /// template.
  const link_map* last_kept = nullptr;
};

Registry::Tables& Registry::tables() {
  if (tables_ == nullptr) tables_ = new Tables;
  return *tables_;
}

void Registry::add_all() {
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    if (map->l_ld == nullptr) continue;
    std::string path = map == first_loaded() ? base::program_path() : map->l_name;
    auto object = std::make_unique<Object>(*map, std::move(path));
    object->file = identity_of(object->path);
    add(std::move(object));
    tables().last_kept = map;
  }
  for (int id = 0; id < size(); ++id) link_needed(at(id));
}

Object* Registry::add(const link_map& map) {
  if (const auto known = tables().by_map.find(&map); known != tables().by_map.end()) return known->second;
  auto object = std::make_unique<Object>(map, map.l_name);
  object->file = identity_of(object->path);
  Object* const added = add(std::move(object));
  if (added != nullptr) link_needed(*added);
  return added;
}

Object* Registry::add_template(const std::string& path, const FileIdentity& file) {
  const link_map* const last = tables().last_kept;
  const link_map* map = last != nullptr ? last->l_next : first_loaded();
  while (map != nullptr && !is_memory_file(map->l_name)) map = map->l_next;
  if (map == nullptr) return nullptr;
  auto object = std::make_unique<Object>(*map, path);
  object->is_template = true;
  object->is_private = true;
  object->file = file;
  return add(std::move(object));
}

Object* Registry::add(std::unique_ptr<Object> object) {
  const int id = object_count.load(std::memory_order_relaxed);
  if (id == kMaxObjects) return nullptr;
  Object* const added = object.release();
  added->id = id;
  Tables& all = tables();
  all.by_path[added->path].push_back(added);
  if (added->file.number != 0) all.by_file[{added->file.device, added->file.number}].push_back(added);
  if (added->is_template) {
    all.last_kept = added->map;
  } else {
    all.by_map.emplace(added->map, added);
    all.originals.push_back(added);
  }
  ranges[id] = {added->begin, added->end - added->begin};
  objects[id].store(added, std::memory_order_relaxed);
  object_count.store(id + 1, std::memory_order_release);  // release: pairs with acquire in size()
  return added;
}

int Registry::size() const {
  return object_count.load(std::memory_order_acquire);
}  // acquire: pairs with add()

Object& Registry::at(int id) const { return *objects[id].load(std::memory_order_relaxed); }

int Registry::room() const { return kMaxObjects - size(); }

Object* Registry::find(std::uintptr_t address) const {
  for (int id = size() - 1; id >= 0; --id) {
    if (address - ranges[id].begin < ranges[id].bytes) return &at(id);
  }
  return nullptr;
}

namespace {

const std::vector<Object*>& no_objects() {
  static const auto& none = *new std::vector<Object*>;
  return none;
}

}  // namespace

const std::vector<Object*>& Registry::from_path(const std::string& path) const {
  if (tables_ == nullptr) return no_objects();
  const auto found = tables_->by_path.find(path);
  return found != tables_->by_path.end() ? found->second : no_objects();
}

const std::vector<Object*>& Registry::from_file(const FileIdentity& file) const {
  if (tables_ == nullptr) return no_objects();
  const auto found = tables_->by_file.find({file.device, file.number});
  return found != tables_->by_file.end() ? found->second : no_objects();
}

const std::vector<Object*>& Registry::originals() const {
  return tables_ != nullptr ? tables_->originals : no_objects();
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
