#include "image/facade.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/environment.h"
#include "image/own_calls.h"
#include "image/symbols.h"
#include "inspect/elf_file.h"
#include "inspect/mpi_library.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

bool is_for_c(const char* name) {
  return std::strncmp(name, "libmpi.so", 9) == 0 || std::strncmp(name, "libmpich.so", 11) == 0;
}

/// The first name in DT_NEEDED that a facade has and that is `wanted`; null: there is none.
template <typename Wanted>
const char* name_of_facade(const link_map& object, Wanted wanted) {
  if (object.l_ld == nullptr) return nullptr;
  const Dynamic dynamic(object);
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag != DT_NEEDED) continue;
    const char* const name = dynamic.strings + entry->d_un.d_val;
    if (has_facade(mpi_kind_of(name)) && wanted(name)) return name;
  }
  return nullptr;
}

/// Also under the name of a memory file, as templates have it and paths that LD_PRELOAD cannot hold.
bool is_ours(const link_map& library) {
  return is_facade(library.l_name) || std::strncmp(library.l_name, "/proc/", 6) == 0;
}

/// Whether libmpi_abi.so.1, which has functions of the same names, is searched before the library.
bool is_behind_standard(const link_map& library) {
  const link_map* map = loaded_as("libmpi_abi.so.1");
  while (map != nullptr && map != &library) map = map->l_next;
  return map != nullptr;
}

}  // namespace

const link_map* loaded_as(std::string_view name) {
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    if (map->l_ld == nullptr) continue;
    const std::string_view file = map->l_name;
    const char* const soname = Dynamic(*map).soname;
    if (name == (soname != nullptr ? soname : file.substr(file.rfind('/') + 1))) return map;
  }
  return nullptr;
}

std::string facade_needed_by(const std::string& path) {
  const char* const variable = base::variable("LD_LIBRARY_PATH");
  const std::string library_path = variable != nullptr ? variable : "";
  std::deque<std::string> files{path};
  std::set<std::string> seen;
  while (!files.empty()) {
    const std::string at = std::move(files.front());
    files.pop_front();
    const ElfFile file(at);
    if (!file.valid()) continue;
    const SearchPaths paths = search_paths_of(file, at);
    for (const std::string& name : file.strings(DT_NEEDED)) {
      if (!seen.insert(name).second || is_shared_library(name.c_str()) || loaded_as(name) != nullptr)
        continue;
      if (std::string facade = facade_for(name, file); !facade.empty()) return facade;
      if (std::string found = find_library(name, paths, {}, library_path); !found.empty())
        files.push_back(std::move(found));
    }
  }
  return {};
}

std::string facade_in_place_of(const std::string& name) {
  if (std::string facade = facade_for(name); !facade.empty()) return facade;
  const std::string file = name.substr(name.rfind('/') + 1);
  if (file != "libmpi.so" && file != "libmpich.so") return {};
  for (const char* const numbered : {"libmpi.so.40", "libmpi.so.12", "libmpich.so.12"})
    if (const link_map* const loaded = loaded_as(numbered); loaded != nullptr && is_ours(*loaded))
      return loaded->l_name;
  const char* const variable = base::variable("LD_LIBRARY_PATH");
  const std::string path =
      file == name ? find_library(name, {}, {}, variable != nullptr ? variable : "") : name;
  if (path.empty()) return facade_for("libmpi.so.12");
  const std::vector<std::string> own_name = ElfFile(path).strings(DT_SONAME);
  return own_name.empty() ? std::string() : facade_for(own_name.front());
}

bool is_of_mpi(const char* name) {
  if (*name == 'P') ++name;
  return std::strncmp(name, "MPI_", 4) == 0 || std::strncmp(name, "MPIX_", 5) == 0 ||
         std::strncmp(name, "MPIR_", 5) == 0;
}

bool is_facade_for_c(const link_map& object) {
  if (object.l_ld == nullptr || !is_ours(object)) return false;
  const char* const name = Dynamic(object).soname;
  return name != nullptr && has_facade(mpi_kind_of(name)) && is_for_c(name);
}

bool names_mpi(const link_map& object) {
  if (object.l_ld == nullptr) return false;
  const Dynamic dynamic(object);
  if (dynamic.soname != nullptr && mpi_kind_of(dynamic.soname) != MpiKind::kNone) return true;
  for (const ElfW(Dyn)* entry = object.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == DT_NEEDED && mpi_kind_of(dynamic.strings + entry->d_un.d_val) != MpiKind::kNone)
      return true;
  return false;
}

bool is_mpi_named_at_start(const link_map& mpi) {
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next)
    if (map != &mpi && map->l_ld != nullptr && was_loaded_at_start(map->l_ld) && names_mpi(*map)) return true;
  return false;
}

const link_map* first_needed(const link_map& object, bool (*is_it)(const link_map&)) {
  std::vector<const link_map*> seen{&object};
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i]->l_ld == nullptr) continue;
    if (is_it(*seen[i])) return seen[i];
    const Dynamic dynamic(*seen[i]);
    for (const ElfW(Dyn)* entry = seen[i]->l_ld; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag != DT_NEEDED) continue;
      const link_map* const needed = loaded_as(dynamic.strings + entry->d_un.d_val);
      if (needed != nullptr && std::ranges::find(seen, needed) == seen.end()) seen.push_back(needed);
    }
  }
  return nullptr;
}

const link_map* mpi_library_of(const link_map& object) {
  return first_needed(object, [](const link_map& one) {
    const char* const name = Dynamic(one).soname;
    return name != nullptr && mpi_kind_of(name) != MpiKind::kNone && !is_for_fortran(name);
  });
}

std::vector<std::string> facades_missing_here() {
  std::vector<std::string> missing;
  const auto is_other = [](const char* name) {
    const link_map* const loaded = is_for_c(name) || is_for_fortran(name) ? loaded_as(name) : nullptr;
    return loaded != nullptr && (!is_ours(*loaded) || (is_for_c(name) && is_behind_standard(*loaded)));
  };
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    const auto is_new = [&](const char* name) {
      return is_other(name) && std::ranges::find(missing, facade_for(name)) == missing.end();
    };
    while (const char* const name = name_of_facade(*map, is_new)) missing.push_back(facade_for(name));
  }
  std::erase(missing, std::string());
  return missing;
}

std::vector<std::string> loaded_before(const std::vector<std::string>& facades) {
  std::deque<ElfFile> files;  // owns the names
  std::unordered_set<std::string_view> names;
  for (const std::string& facade : facades)
    for (const std::string_view name : files.emplace_back(facade).defined_functions()) names.insert(name);
  std::vector<std::string> found;
  for (const link_map* map = first_loaded()->l_next; map != nullptr; map = map->l_next) {
    const std::string path = map->l_name;
    const std::string library = path.substr(path.rfind('/') + 1);
    if (std::ranges::find(facades, facade_for(library)) != facades.end()) break;
    if (is_shared_library(library.c_str()) || mpi_kind_of(library) != MpiKind::kNone) continue;
    const ElfFile file(path);
    if (std::ranges::any_of(file.defined_functions(),
                            [&](std::string_view name) { return names.contains(name); }))
      found.push_back(path);
  }
  return found;
}

void bind_to_facade(const link_map& object, const link_map* global) {
  // The facade is looked for at the first name of MPI's: most libraries have none.
  struct Uses {
    const link_map& object;
    const link_map* global;
    mutable bool is_known = false;
    mutable std::optional<Dynamic> facade{};
  } const uses{object, global};
  bind_anew(
      object,
      [](const void* context, std::uintptr_t, const char* symbol_name) -> const void* {
        if (!is_of_mpi(symbol_name)) return nullptr;
        const auto& known = *static_cast<const Uses*>(context);
        if (!std::exchange(known.is_known, true)) {
          const link_map* const own = mpi_library_of(known.object);
          const link_map* const facade = own != nullptr ? own : known.global;
          if (facade != nullptr && facade != &known.object && is_facade_for_c(*facade))
            known.facade.emplace(*facade);
        }
        const ElfW(Sym)* const symbol = known.facade ? known.facade->find(symbol_name) : nullptr;
        return symbol != nullptr ? address_of(*known.facade, *symbol) : nullptr;
      },
      &uses);
}

}  // namespace clump::image
