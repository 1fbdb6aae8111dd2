// Identifies MPI libraries by their files: which ABI a library has, and which family it belongs to. Makes the
// message for the user of a program that was built for another one than Clump's. Only reads files. Also part
// of clump_inspect.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clump::image {

class ElfFile;

/// Which MPI a program is linked to, directly or through its libraries.
enum class MpiKind : std::uint8_t {
  kNone,         ///< none that can be seen (it may still load one later)
  kStandardAbi,  ///< libmpi_abi.so.*: the ABI of MPI-5.0 chapter 20
  kMpich,        ///< MPICH's ABI, for which Clump has a facade (bindings/mpich)
  kOpenMpi,      ///< Open MPI's ABI, likewise (bindings/openmpi)
  kOther,        ///< another library, whose handles and constants differ
};

/// The kind of a library, by its name, "libmpi.so.40", or its path.
MpiKind mpi_kind_of(std::string_view library);

/// Whether it is an ABI for which Clump has a facade.
constexpr bool has_facade(MpiKind kind) { return kind == MpiKind::kMpich || kind == MpiKind::kOpenMpi; }
/// Whose ABI it is: "MPICH" or "Open MPI". `kind` has a facade.
std::string_view name_of(MpiKind kind);

/// Clump's library that stands in the place of one whose ABI has a facade: its path. Empty if the name is
/// another one, or if Clump was installed without.
std::string facade_for(std::string_view library);
/// The same for a file that names the library; empty, too, if the file needs more of it than Clump's has.
std::string facade_for(std::string_view library, const ElfFile& user);
/// Clump's library for Fortran of the standard's ABI, for a file that names it and finds none: its path.
/// Empty if the name is another one, or if Clump was installed without.
std::string own_fortran_library(std::string_view library);
/// Whether it is one of a family's libraries for Fortran.
bool is_for_fortran(std::string_view library);
/// The name of the C library that a family's library needs. mpi_kind_of() the library has a facade.
std::string_view c_library_of(std::string_view library);
/// Whether a path is that of such a library of Clump's.
bool is_facade(std::string_view path);

/// The family of an MPI library that is part of the program, linked from an archive (libmpi.a), by its
/// symbols. Empty if there is none, and if the program is stripped. Programs with a library of their own that
/// has MPI's names and runs on one process are none.
std::string_view family_inside(const ElfFile& program);
/// A sentence about such a program, without its name.
std::string words_about_inside(std::string_view family);

/// A program or library that needs an MPI library of kind kOther.
struct WrongMpi {
  std::string user;     ///< the name that the user knows: "./a.out", the path of a Python module
  std::string by;       ///< the path of the user's library that needs it; empty: none, or the user itself
  std::string library;  ///< "libmpi.so.40", as it is named
  std::string path;     ///< where it is; empty: not found, or not looked for
};

/// The family of the library: "Open MPI", "MPICH or a relative of it (Intel MPI, MVAPICH, Cray MPICH)".
std::string family_of(const WrongMpi& wrong);
/// A sentence that names the user, the family, the library and what to do. `mpicc` is the path of Clump's
/// mpicc.
std::string words_about(const WrongMpi& wrong, const std::string& mpicc);
/// The command that builds mpi4py for Clump's library.
std::string command_for_mpi4py(const std::string& mpicc);

}  // namespace clump::image
