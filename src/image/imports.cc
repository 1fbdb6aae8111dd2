#include "image/imports.h"

#include <string_view>

#include "fiber/float_flags.h"
#include "fiber/processor_time.h"

namespace clump::image {
namespace {

/// Whether the object imports a function, or another symbol, for whose name `is_wanted` is true.
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

/// Whether it is a function of <fenv.h>, or Fortran's, that reports floating-point exceptions.
bool tells_exceptions(std::string_view function) {
  return function == "fetestexcept" || function == "feclearexcept" || function == "fegetexceptflag" ||
         function == "fegetenv" || function == "feholdexcept" || function == "feupdateenv" ||
         function.starts_with("__ieee_exceptions_") || function.starts_with("_gfortran_ieee_");
}

/// Whether a function reports processor time to a program, or to its Fortran run-time library.
bool tells_usage(std::string_view function) {
  return function == "clock" || function == "times" || function == "getrusage" ||
         function == "clock_getcpuclockid" || function.starts_with("_gfortran_cpu_time") ||
         function.starts_with("_gfortran_etime") || function.starts_with("_gfortran_dtime") ||
         function.starts_with("_gfortran_second");
}

}  // namespace

void keep_float_flags_if_told(const Dynamic& object) {
  if (imports_any(object, tells_exceptions)) fiber::keep_float_flags();
}

void keep_usage_if_told(const Dynamic& program) {
  if (imports_any(program, tells_usage)) fiber::keep_processor_time();
}

}  // namespace clump::image
