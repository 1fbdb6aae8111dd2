#include "image/own_calls.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <initializer_list>

#include "base/adapters.h"
#include "image/symbols.h"
#include "inspect/arch.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

constexpr std::uintptr_t kPage = 4096;

/// The part of a library that ld.so has made read-only after binding it.
struct ReadOnly {
  std::uintptr_t begin = 0;
  std::uintptr_t bytes = 0;

  explicit ReadOnly(const link_map& map) {
    // The ELF header of a library is at the beginning of its first segment; its program headers follow.
    const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(map.l_addr);
    const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(map.l_addr + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i) {
      if (segments[i].p_type != PT_GNU_RELRO) continue;
      begin = (map.l_addr + segments[i].p_vaddr) & ~(kPage - 1);
      bytes = ((map.l_addr + segments[i].p_vaddr + segments[i].p_memsz) & ~(kPage - 1)) - begin;
    }
  }
  void protect(int protection) const {
    if (bytes != 0) mprotect(reinterpret_cast<void*>(begin), bytes, protection);
  }
};

const char* name_of(const link_map& map) {
  const char* name = map.l_name;
  for (const char* at = name; *at != '\0'; ++at) {
    if (*at == '/') name = at + 1;
  }
  return name;
}

bool is_one_of(const char* name, std::initializer_list<const char*> names) {
  for (const char* one : names) {
    if (std::strcmp(name, one) == 0) return true;
  }
  return false;
}

bool is_of_allocator(const char* name) {
  return is_one_of(name, {"malloc", "calloc", "realloc", "reallocarray", "free", "cfree", "memalign",
                          "aligned_alloc", "posix_memalign", "valloc", "pvalloc", "malloc_usable_size"});
}

bool defines_function(const link_map& map, const char* name) {
  const ElfW(Sym)* const symbol = Dynamic(map).find(name);
  return symbol != nullptr && ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT;
}

/// Whether the program has a sanitizer's runtime, which must see all calls of the process.
bool has_sanitizer(const link_map& program) {
  return defines_function(program, "__asan_init") || defines_function(program, "__tsan_init") ||
         defines_function(program, "__msan_init");
}

/// Whether a definition is a function of an interposer (a library before Clump's of which each rank has a
/// copy), or a function of the program other than its allocator. Not variables that the program has copied
/// from the C library: all references go to the copy.
bool is_of_a_rank(std::uintptr_t definition, const char* name, const link_map* ours) {
  const link_map* const owner = loaded_at(reinterpret_cast<const void*>(definition));
  if (owner == nullptr || !defines_function(*owner, name)) return false;
  if (owner == first_loaded()) return !is_of_allocator(name) && !has_sanitizer(*owner);
  for (const link_map* map = first_loaded(); map != nullptr && map != ours; map = map->l_next) {
    if (map == owner) return !is_shared_library(name_of(*map));
  }
  return false;
}

/// `ours` is libclump_host.so.
const void* definition_past_ranks(const void* ours, std::uintptr_t bound, const char* name) {
  const auto* const host = static_cast<const link_map*>(ours);
  return is_of_a_rank(bound, name, host) ? definition_from(name, host) : nullptr;
}

/// libfabric's verbs reads the names of all functions of the kernel, twice, to learn what the kernel can do
/// with adapters: 10 MB, which takes 0.1 s.
std::FILE* open_for_network(const char* path, const char* mode) {
  if (std::strcmp(path, "/proc/kallsyms") != 0 || base::has_rdma_adapter()) return std::fopen(path, mode);
  errno = ENOENT;
  return nullptr;
}

const void* definition_for_network(const void* ours, std::uintptr_t bound, const char* name) {
  if (std::strcmp(name, "fopen") == 0) return reinterpret_cast<const void*>(&open_for_network);
  if (!is_one_of(name, {"send", "accept"})) return definition_past_ranks(ours, bound, name);
  const Dynamic host(*static_cast<const link_map*>(ours));
  const ElfW(Sym)* const symbol = host.find(name);
  return symbol != nullptr ? address_of(host, *symbol) : nullptr;
}

}  // namespace

void bind_anew(const link_map& library, ChooseDefinition choose, const void* context) {
  const Dynamic dynamic(library);
  const ReadOnly constants(library);
  bool writable = false;
  for (const auto relocations : {dynamic.relocations, dynamic.plt_relocations}) {
    for (const ElfW(Rela) & relocation : relocations) {
      if (arch::effect_of(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info))) !=
          arch::Effect::kAddress)
        continue;
      const ElfW(Sym)& symbol = dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
      if (symbol.st_name == 0) continue;
      const std::uintptr_t place = dynamic.base + relocation.r_offset;
      std::uintptr_t bound = 0;
      __builtin_memcpy(&bound, reinterpret_cast<const void*>(place), sizeof bound);
      const char* const name = dynamic.name_of(symbol);
      const void* const definition = bound != 0 ? choose(context, bound, name) : nullptr;
      if (definition == nullptr) continue;
      if (!writable) constants.protect(PROT_READ | PROT_WRITE);
      writable = true;
      bound = reinterpret_cast<std::uintptr_t>(definition) + static_cast<std::uintptr_t>(relocation.r_addend);
      __builtin_memcpy(reinterpret_cast<void*>(place), &bound, sizeof bound);
    }
  }
  if (writable) constants.protect(PROT_READ);
}

void keep_own_calls(char** environment) {
  bool bound = false;
  for (char** entry = environment; entry != nullptr && *entry != nullptr; ++entry)
    bound = bound || std::strncmp(*entry, "LD_BIND_NOW=", 12) == 0;
  if (!bound) return;
  static constexpr char kHere = 0;
  const link_map* const ours = loaded_at(&kHere);
  for (const link_map* map = ours; map != nullptr; map = map->l_next) {
    if (map == ours || std::strncmp(name_of(*map), "libmpi_abi.so", 13) == 0)
      bind_anew(*map, definition_past_ranks, ours);
  }
}

void keep_calls_of_network(const void* inside) {
  static constexpr char kHere = 0;
  const link_map* const library = loaded_at(inside);
  if (library != nullptr) bind_anew(*library, definition_for_network, loaded_at(&kHere));
}

}  // namespace clump::image
