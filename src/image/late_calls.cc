#include "image/late_calls.h"

#include <dlfcn.h>

#include <cstdint>
#include <cstring>

#include "image/symbols.h"
#include "image/variables.h"

namespace clump::image {
namespace {

/// As ld.so binds a reference to a function that asks for a version, or for none (null). dlsym() and dlvsym()
/// differ from it: one takes the default version, the other no function without a version, as interposers
/// have.
void* definition_of(const char* name, const char* version) {
  static constinit Hidden<void*(void*, const char*)> any{"dlsym"};
  static constinit Hidden<void*(void*, const char*, const char*)> versioned{"dlvsym"};
  void* const first = any(RTLD_DEFAULT, name);
  dl_find_object at;
  if (first == nullptr || _dl_find_object(first, &at) != 0)
    return version != nullptr ? versioned(RTLD_DEFAULT, name, version) : first;
  const Dynamic owner(*at.dlfo_link_map);
  const ElfW(Sym)* const symbol = owner.find(name, version != nullptr ? Version::kDefault : Version::kOldest);
  if (symbol == nullptr) return first;  // a variant of the function is in another library
  if (version == nullptr) return address_of(owner, *symbol);
  const char* const has =
      version_of(*at.dlfo_link_map, owner, static_cast<std::size_t>(symbol - owner.symbols));
  return has == nullptr || std::strcmp(has, version) == 0 ? first : versioned(RTLD_DEFAULT, name, version);
}

bool is_left_to_us(char** environment) {
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    if (std::strcmp(*entry, "LD_BIND_NOW=") == 0) return true;
  return false;
}

class LateCalls {
 public:
  explicit LateCalls(const link_map& map) : map_(map), dynamic_(map) {
    if (_dl_find_object(map.l_ld, &place_) != 0) place_ = {};
  }

  void bind() const {
    for (const ElfW(Rela) & relocation : dynamic_.plt_relocations) {
      const std::size_t number = ELF64_R_SYM(relocation.r_info);
      const ElfW(Sym)& symbol = dynamic_.symbols[number];
      auto* const place = reinterpret_cast<std::uintptr_t*>(dynamic_.base + relocation.r_offset);
      if (symbol.st_name == 0 || !is_here(*place)) continue;
      const void* const found = definition_of(dynamic_.name_of(symbol), version_of(map_, dynamic_, number));
      const auto address = reinterpret_cast<std::uintptr_t>(found);
      // The program's own entry for the call, by which one at a fixed address compares functions.
      if (symbol.st_shndx == SHN_UNDEF && is_here(address)) continue;
      const bool is_optional = ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
      if (address != *place && (found != nullptr || is_optional)) *place = address;
    }
  }

 private:
  /// What is not bound yet leads to the library's own table of calls; what ld.so has bound, and perhaps made
  /// read-only, leads there only where the function is the library's own.
  bool is_here(std::uintptr_t address) const {
    return address >= reinterpret_cast<std::uintptr_t>(place_.dlfo_map_start) &&
           address < reinterpret_cast<std::uintptr_t>(place_.dlfo_map_end);
  }

  const link_map& map_;
  const Dynamic dynamic_;
  dl_find_object place_{};
};

}  // namespace

void bind_late_calls(char** environment) {
  if (has_begun() || !is_left_to_us(environment)) return;
  for (const link_map* map = first_loaded(); map != nullptr; map = map->l_next)
    if (map->l_ld != nullptr) LateCalls(*map).bind();
}

}  // namespace clump::image
