#include "image/symbols.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstring>

namespace clump::image {
namespace {

/// The absolute address for one in a dynamic section. ld.so makes most of these absolute, but not all, and
/// none in a section that it cannot write.
std::uintptr_t absolute(const link_map& map, std::uintptr_t address) {
  return address < map.l_addr ? address + map.l_addr : address;
}

template <typename T>
const T* pointer_to(const link_map& map, std::uintptr_t address) {
  return reinterpret_cast<const T*>(absolute(map, address));
}

/// Makes a table from its two entries, which may come in either order.
template <typename T>
struct Table {
  std::uintptr_t address = 0;
  std::size_t bytes = 0;
  std::span<const T> in(const link_map& map) const {
    if (address == 0) return {};
    return {pointer_to<T>(map, address), bytes / sizeof(T)};
  }
};

/// The table in an object's dynamic section whose address has that tag; null if there is none.
template <typename T>
const T* table_of(const link_map& map, ElfW(Sxword) tag) {
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry)
    if (entry->d_tag == tag) return pointer_to<T>(map, entry->d_un.d_ptr);
  return nullptr;
}

/// The entry of a table of versions after this one; null after the last.
template <typename T>
const T* entry_after(const T* entry, std::uint32_t distance) {
  return distance != 0 ? reinterpret_cast<const T*>(reinterpret_cast<const std::byte*>(entry) + distance)
                       : nullptr;
}

std::uint32_t gnu_hash_of(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

std::uint32_t sysv_hash_of(const char* name) {
  std::uint32_t hash = 0;
  for (; *name != '\0'; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    const std::uint32_t high = hash & 0xf0000000U;
    hash = (hash ^ (high >> 24)) & ~high;
  }
  return hash;
}

/// Like strcmp(), which may be that of a sanitizer that is looking up its own functions here.
bool same_name(const char* a, const char* b) {
  while (*a == *b && *a != '\0') ++a, ++b;
  return *a == *b;
}

/// Chooses among several versions of a name: the oldest, if that is asked for; one that is not hidden; a
/// hidden one.
class BestVersion {
 public:
  BestVersion(const Dynamic& object, const char* name, Version wanted)
      : object_(object), name_(name), wanted_(wanted) {}

  void consider(std::uint32_t index) {
    const ElfW(Sym)& symbol = object_.symbols[index];
    if (symbol.st_shndx == SHN_UNDEF || !same_name(object_.name_of(symbol), name_)) return;
    const unsigned version = object_.versions != nullptr ? object_.versions[index] : VER_NDX_GLOBAL;
    int rank = (version & 0x8000) != 0 ? 1 : 2;
    if (wanted_ == Version::kOldest && (version & 0x7fff) <= kFirstVersion) rank = 3;
    if (rank <= best_rank_) return;
    best_ = &symbol;
    best_rank_ = rank;
  }
  const ElfW(Sym) * best() const { return best_; }

 private:
  static constexpr unsigned kFirstVersion = VER_NDX_GLOBAL + 1;  // the first after that of the library itself

  const Dynamic& object_;
  const char* name_;
  Version wanted_;
  const ElfW(Sym) * best_ = nullptr;
  int best_rank_ = 0;
};

void search_gnu_hash(const Dynamic& object, const char* name, BestVersion& found) {
  const std::uint32_t* header = object.gnu_hash;
  const std::uint32_t buckets = header[0];
  const std::uint32_t first_symbol = header[1];
  const std::uint32_t bloom_words = header[2];
  if (buckets == 0) return;
  const std::uint32_t* bucket = header + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = bucket + buckets;
  const std::uint32_t hash = gnu_hash_of(name);
  std::uint32_t index = bucket[hash % buckets];
  if (index < first_symbol) return;
  while (true) {
    const std::uint32_t entry = chain[index - first_symbol];
    if ((entry | 1U) == (hash | 1U)) found.consider(index);
    if ((entry & 1U) != 0) return;
    ++index;
  }
}

void search_sysv_hash(const Dynamic& object, const char* name, BestVersion& found) {
  const std::uint32_t buckets = object.sysv_hash[0];
  if (buckets == 0) return;
  const std::uint32_t* bucket = object.sysv_hash + 2;
  const std::uint32_t* chain = bucket + buckets;
  for (std::uint32_t index = bucket[sysv_hash_of(name) % buckets]; index != STN_UNDEF; index = chain[index]) {
    found.consider(index);
  }
}

[[noreturn]] void die_without(const char* name) {
  constexpr char kBefore[] = "clump: the C library has no function ";
  (void)!syscall(SYS_write, STDERR_FILENO, kBefore, sizeof kBefore - 1);
  (void)!syscall(SYS_write, STDERR_FILENO, name, std::strlen(name));
  (void)!syscall(SYS_write, STDERR_FILENO, "\n", 1);
  syscall(SYS_exit_group, 127);
  __builtin_unreachable();
}

}  // namespace

Dynamic::Dynamic(const link_map& map) : base(map.l_addr) {
  Table<ElfW(Rela)> rela;
  Table<ElfW(Rela)> plt;
  Table<ElfW(Relr)> relr;
  Table<std::uintptr_t> preinit_table;
  Table<std::uintptr_t> init_table;
  Table<std::uintptr_t> fini_table;
  std::uintptr_t soname_offset = 0;
  bool has_soname = false;
  for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
    const std::uintptr_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols = pointer_to<ElfW(Sym)>(map, value);
        break;
      case DT_STRTAB:
        strings = pointer_to<char>(map, value);
        break;
      case DT_GNU_HASH:
        gnu_hash = pointer_to<std::uint32_t>(map, value);
        break;
      case DT_HASH:
        sysv_hash = pointer_to<std::uint32_t>(map, value);
        break;
      case DT_VERSYM:
        versions = pointer_to<ElfW(Half)>(map, value);
        break;
      case DT_RELA:
        rela.address = value;
        break;
      case DT_RELASZ:
        rela.bytes = value;
        break;
      case DT_JMPREL:
        plt.address = value;
        break;
      case DT_PLTRELSZ:
        plt.bytes = value;
        break;
      case DT_RELR:
        relr.address = value;
        break;
      case DT_RELRSZ:
        relr.bytes = value;
        break;
      case DT_PREINIT_ARRAY:
        preinit_table.address = value;
        break;
      case DT_PREINIT_ARRAYSZ:
        preinit_table.bytes = value;
        break;
      case DT_INIT_ARRAY:
        init_table.address = value;
        break;
      case DT_INIT_ARRAYSZ:
        init_table.bytes = value;
        break;
      case DT_FINI_ARRAY:
        fini_table.address = value;
        break;
      case DT_FINI_ARRAYSZ:
        fini_table.bytes = value;
        break;
      case DT_INIT:
        init = absolute(map, value);
        break;
      case DT_FINI:
        fini = absolute(map, value);
        break;
      case DT_SONAME:
        soname_offset = value;
        has_soname = true;
        break;
      default:
        break;
    }
  }
  relocations = rela.in(map);
  plt_relocations = plt.in(map);
  relative = relr.in(map);
  preinit_array = preinit_table.in(map);
  init_array = init_table.in(map);
  fini_array = fini_table.in(map);
  if (has_soname && strings != nullptr) soname = strings + soname_offset;
}

const ElfW(Sym) * Dynamic::find(const char* name, Version wanted) const {
  if (symbols == nullptr || strings == nullptr) return nullptr;
  BestVersion found(*this, name, wanted);
  if (gnu_hash != nullptr) {
    search_gnu_hash(*this, name, found);
  } else if (sysv_hash != nullptr) {
    search_sysv_hash(*this, name, found);
  }
  return found.best();
}

const char* version_of(const link_map& map, const Dynamic& object, std::size_t number) {
  if (object.versions == nullptr) return nullptr;
  const unsigned index = object.versions[number] & 0x7fffU;
  if (index <= VER_NDX_GLOBAL) return nullptr;
  const auto* defined = table_of<ElfW(Verdef)>(map, DT_VERDEF);
  for (; defined != nullptr; defined = entry_after(defined, defined->vd_next)) {
    if ((defined->vd_ndx & 0x7fffU) != index) continue;
    const auto* const name =
        reinterpret_cast<const ElfW(Verdaux)*>(reinterpret_cast<const std::byte*>(defined) + defined->vd_aux);
    return object.strings + name->vda_name;
  }
  const auto* needed = table_of<ElfW(Verneed)>(map, DT_VERNEED);
  for (; needed != nullptr; needed = entry_after(needed, needed->vn_next)) {
    const auto* one =
        reinterpret_cast<const ElfW(Vernaux)*>(reinterpret_cast<const std::byte*>(needed) + needed->vn_aux);
    for (; one != nullptr; one = entry_after(one, one->vna_next))
      if ((one->vna_other & 0x7fffU) == index) return object.strings + one->vna_name;
  }
  return nullptr;
}

void* definition_from(const char* name, const link_map* map) {
  for (; map != nullptr; map = map->l_next) {
    if (map->l_ld == nullptr) continue;
    const Dynamic object(*map);
    if (const ElfW(Sym)* symbol = object.find(name)) {
      if (void* address = address_of(object, *symbol)) return address;
    }
  }
  return nullptr;
}

const link_map* first_loaded() { return _r_debug.r_map; }

namespace {

/// Objects of the start are never unloaded, and stand before all others.
constinit std::atomic<const link_map*> last_of_start{nullptr};

}  // namespace

void note_loaded_at_start() {
  const link_map* last = first_loaded();
  while (last->l_next != nullptr) last = last->l_next;
  last_of_start.store(last, std::memory_order_relaxed);  // relaxed: no other thread runs yet
}

bool was_loaded_at_start(const void* address) {
  const link_map* const last = last_of_start.load(std::memory_order_relaxed);
  dl_find_object found;
  if (last == nullptr || _dl_find_object(const_cast<void*>(address), &found) != 0) return true;
  for (const link_map* map = first_loaded();; map = map->l_next) {
    if (map == found.dlfo_link_map) return true;
    if (map == last) return false;
  }
}

void* address_of(const Dynamic& object, const ElfW(Sym) & symbol) {
  const std::uintptr_t address = symbol.st_shndx == SHN_ABS ? symbol.st_value : object.base + symbol.st_value;
  switch (ELF64_ST_TYPE(symbol.st_info)) {
    case STT_TLS:
      return nullptr;
    case STT_GNU_IFUNC:
      return reinterpret_cast<void* (*)()>(address)();
    default:
      return reinterpret_cast<void*>(address);
  }
}

const link_map* loaded_at(const void* address) {
  const auto where = reinterpret_cast<std::uintptr_t>(address);
  // Objects do not overlap, so if an object holds the address, it is the one with the last beginning before
  // the address.
  const link_map* best = nullptr;
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next) {
    const auto dynamic = reinterpret_cast<std::uintptr_t>(map->l_ld);
    if (dynamic == 0 || map->l_addr > where) continue;
    if (best == nullptr || map->l_addr > best->l_addr) best = map;
  }
  return best;
}

void* next_definition(const char* name, const void* after) {
  const link_map* map = loaded_at(after);
  return definition_from(name, map != nullptr ? map->l_next : first_loaded());
}

void* hidden_definition(const char* name) {
  static constexpr char kHere = 0;
  void* found = next_definition(name, &kHere);
  if (found == nullptr) {
    // If a program was started by hand, preloaded libraries may come after the C library.
    const link_map* libc = first_loaded();
    while (libc != nullptr && std::strstr(libc->l_name, "/libc.so.6") == nullptr) libc = libc->l_next;
    found = libc != nullptr ? definition_from(name, libc) : nullptr;
  }
  if (found == nullptr) die_without(name);
  return found;
}

}  // namespace clump::image
