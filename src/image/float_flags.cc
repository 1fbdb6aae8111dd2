#include "image/float_flags.h"

#include <string_view>

#include "fiber/float_flags.h"

namespace clump::image {
namespace {

/// Functions of <fenv.h>, and Fortran's.
bool tells_exceptions(std::string_view function) {
  return function == "fetestexcept" || function == "feclearexcept" || function == "fegetexceptflag" ||
         function == "fegetenv" || function == "feholdexcept" || function == "feupdateenv" ||
         function.starts_with("__ieee_exceptions_") || function.starts_with("_gfortran_ieee_");
}

}  // namespace

void keep_float_flags_if_told(const Dynamic& object) {
  for (const auto relocations : {object.plt_relocations, object.relocations}) {
    for (const ElfW(Rela) & relocation : relocations) {
      const ElfW(Sym)& symbol = object.symbols[ELF64_R_SYM(relocation.r_info)];
      if (symbol.st_name != 0 && symbol.st_shndx == SHN_UNDEF && tells_exceptions(object.name_of(symbol)))
        return fiber::keep_float_flags();
    }
  }
}

}  // namespace clump::image
