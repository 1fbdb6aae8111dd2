#include "image/imports.h"

namespace clump::image {

bool imports_any(const Dynamic& object, bool (*is_wanted)(std::string_view name)) {
  for (const auto relocations : {object.plt_relocations, object.relocations}) {
    for (const ElfW(Rela) & relocation : relocations) {
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocation.r_info)];
      if (symbol.st_name != 0 && symbol.st_shndx == SHN_UNDEF && is_wanted(object.name_of(symbol)))
        return true;
    }
  }
  return false;
}

}  // namespace clump::image
