#include "image/float_flags.h"

#include <string_view>

#include "fiber/float_flags.h"
#include "image/imports.h"

namespace clump::image {
namespace {

/// Whether it is a function of <fenv.h>, or Fortran's, that reports floating-point exceptions.
bool tells_exceptions(std::string_view function) {
  return function == "fetestexcept" || function == "feclearexcept" || function == "fegetexceptflag" ||
         function == "fegetenv" || function == "feholdexcept" || function == "feupdateenv" ||
         function.starts_with("__ieee_exceptions_") || function.starts_with("_gfortran_ieee_");
}

}  // namespace

void keep_float_flags_if_told(const Dynamic& object) {
  if (imports_any(object, tells_exceptions)) fiber::keep_float_flags();
}

}  // namespace clump::image
