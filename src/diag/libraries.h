// Which libraries are MPI's. Reports name the program's calls, not what is below them.
#pragma once

#include <algorithm>
#include <string_view>

namespace clump::diag {

inline bool is_library(std::string_view path, std::string_view name) {
  return path.substr(path.rfind('/') + 1).starts_with(name);
}

/// The library that has the standard's ABI.
inline bool is_mpi(std::string_view path) { return is_library(path, "libmpi_abi.so"); }

/// A library through which programs call it: a facade for the ABI of another MPI library, or bindings for
/// another language, ctypes among them.
inline bool is_binding(std::string_view path) {
  constexpr std::string_view kBindings[] = {
      "libmpi.so",       "libmpich.so",  "libmpi_cxx.so",    "libmpifort_",    "libmpifort.so",
      "libmpichfort.so", "libmpi_mpifh", "libmpi_usempif08", "libmpi_usempi_", "libffi.so"};
  return path.find("/mpi4py/MPI.") != path.npos || path.find("/_ctypes.") != path.npos ||
         std::ranges::any_of(kBindings, [&](std::string_view name) { return is_library(path, name); });
}

}  // namespace clump::diag
