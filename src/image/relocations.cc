#include "image/relocations.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/why_refused.h"
#include "image/objects.h"
#include "inspect/arch.h"

namespace clump::image {
namespace {

using Found = std::function<void(std::uintptr_t)>;

/// DT_RELR: an even entry is the address of a word; an odd one is a bit map of the 63 words behind the last
/// one.
void for_each_relative(const Object& object, const Found& found) {
  std::uintptr_t next = 0;
  for (const ElfW(Relr) entry : object.dynamic.relative) {
    if ((entry & 1) == 0) {
      next = object.dynamic.base + entry;
      found(next);
      next += sizeof(std::uintptr_t);
      continue;
    }
    std::uintptr_t place = next;
    for (ElfW(Relr) bits = entry >> 1; bits != 0; bits >>= 1, place += sizeof(std::uintptr_t)) {
      if ((bits & 1) != 0) found(place);
    }
    next += 63 * sizeof(std::uintptr_t);
  }
}

/// The variable that was copied: the first definition in load order outside of all programs.
const ElfW(Sym) * source_of_copy(const char* name, const Object** owner) {
  const Registry& registry = Registry::get();
  for (int id = 0; id < registry.size(); ++id) {
    const Object& object = registry.at(id);
    if (object.is_program) continue;
    if (const ElfW(Sym)* symbol = object.dynamic.find(name)) {
      *owner = &object;
      return symbol;
    }
  }
  return nullptr;
}

/// Finds the words of a copied variable. They hold addresses where the source does, for example in a table of
/// virtual functions.
void copied_words(const Object& object, const ElfW(Rela) & relocation, const Found& found) {
  const ElfW(Sym)& symbol = object.dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
  const Object* owner = nullptr;
  const ElfW(Sym)* source = source_of_copy(object.dynamic.name_of(symbol), &owner);
  if (source == nullptr) return;
  const std::uintptr_t from = owner->dynamic.base + source->st_value;
  const std::uintptr_t to = object.dynamic.base + relocation.r_offset;
  for_each_address_word(*owner, [&](std::uintptr_t place) {
    if (place - from < symbol.st_size) found(to + (place - from));
  });
}

void for_each_in(std::span<const ElfW(Rela)> relocations, const Object& object, const Found& found) {
  for (const ElfW(Rela) & relocation : relocations) {
    switch (arch::effect_of(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)))) {
      case arch::Effect::kAddress:
        found(object.dynamic.base + relocation.r_offset);
        break;
      case arch::Effect::kCopy:
        copied_words(object, relocation, found);
        break;
      case arch::Effect::kOther:
        break;
    }
  }
}

}  // namespace

void for_each_address_word(const Object& object, const Found& found) {
  for_each_in(object.dynamic.relocations, object, found);
  for_each_in(object.dynamic.plt_relocations, object, found);
  for_each_relative(object, found);
}

void for_each_copied_variable(const Object& object,
                              const std::function<void(std::uintptr_t, std::size_t)>& found) {
  for (const ElfW(Rela) & relocation : object.dynamic.relocations) {
    if (arch::effect_of(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info))) != arch::Effect::kCopy)
      continue;
    const ElfW(Sym)& symbol = object.dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
    found(object.dynamic.base + relocation.r_offset, symbol.st_size);
  }
}

namespace {

/// Calls `found` with each relocation that names a symbol other objects may define, and the word it fills.
template <typename Called>
void for_each_named(const Object& object, Called found) {
  for (const auto& relocations : {object.dynamic.relocations, object.dynamic.plt_relocations}) {
    for (const ElfW(Rela) & relocation : relocations) {
      const auto number = static_cast<std::uint32_t>(ELF64_R_SYM(relocation.r_info));
      const ElfW(Sym)& symbol = object.dynamic.symbols[number];
      if (symbol.st_name == 0 || ELF64_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      found(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info)),
            SymbolicWord{object.dynamic.base + relocation.r_offset, object.dynamic.name_of(symbol),
                         static_cast<std::uintptr_t>(relocation.r_addend), number});
    }
  }
}

}  // namespace

void for_each_symbolic_word(const Object& object, const std::function<void(const SymbolicWord&)>& found) {
  for_each_named(object, [&](std::uint32_t type, const SymbolicWord& word) {
    if (arch::effect_of(type) == arch::Effect::kAddress) found(word);
  });
}

void for_each_tls_word(const Object& object, const std::function<void(const SymbolicWord&, TlsPart)>& found) {
  for_each_named(object, [&](std::uint32_t type, const SymbolicWord& word) {
    if (type == arch::kTlsModule) {
      found(word, TlsPart::kModule);
    } else if (type == arch::kTlsOffset) {
      found(word, TlsPart::kOffset);
    } else if (arch::effect_of(type) == arch::Effect::kOther) {
      found(word, TlsPart::kOther);
    }
  });
}

base::Status repeat_copies(const Object& object) {
  for (const ElfW(Rela) & relocation : object.dynamic.relocations) {
    if (arch::effect_of(static_cast<std::uint32_t>(ELF64_R_TYPE(relocation.r_info))) != arch::Effect::kCopy)
      continue;
    const ElfW(Sym)& symbol = object.dynamic.symbols[ELF64_R_SYM(relocation.r_info)];
    const Object* owner = nullptr;
    const ElfW(Sym)* source = source_of_copy(object.dynamic.name_of(symbol), &owner);
    if (source == nullptr || !owner->is_private) continue;
    const std::uintptr_t to = object.dynamic.base + relocation.r_offset;
    const std::uintptr_t page = to & ~std::uintptr_t{4095};
    // ld.so may have made the page read-only.
    if (mprotect(reinterpret_cast<void*>(page), to + symbol.st_size - page, PROT_READ | PROT_WRITE) != 0) {
      return base::fail(MPI_ERR_SPAWN, "cannot change a copy of {}: {}", object.path,
                        base::why_refused("mprotect", errno));
    }
    owner->snapshot.read(owner->dynamic.base + source->st_value, symbol.st_size,
                         reinterpret_cast<std::byte*>(to));
  }
  return {};
}

}  // namespace clump::image
