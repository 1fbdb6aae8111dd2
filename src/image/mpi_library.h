// MPI libraries by their files: which ABI they have, whose they are, and what the user of a program that was
// made for another one than ours is told. Looks at files only. Part of clump_inspect, too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace clump::image {

/// Which MPI a program is linked to, directly or through its libraries.
enum class MpiKind : std::uint8_t {
  kNone,         ///< none that can be seen (it may still load one later)
  kStandardAbi,  ///< libmpi_abi.so.*: the ABI of MPI-5.0 chapter 20
  kOther,        ///< another library, whose handles and constants differ
};

/// By the name of a library, "libmpi.so.40", or its path.
MpiKind mpi_kind_of(std::string_view library);

/// A program or library that needs an MPI library of kind kOther.
struct WrongMpi {
  std::string user;     ///< as the user knows it: "./a.out", the path of a Python module
  std::string by;       ///< path of the library of the user's that names it; empty, or the user itself: none
  std::string library;  ///< "libmpi.so.40", as it is named
  std::string path;     ///< where it is; empty: not found, or not looked for
};

/// Whose the library is: "Open MPI", "MPICH or a relative of it (Intel MPI, MVAPICH, Cray MPICH)".
std::string family_of(const WrongMpi& wrong);
/// A sentence that names the user, the family, the library and what to do. `mpicc` is the path of ours.
std::string words_about(const WrongMpi& wrong, const std::string& mpicc);
/// How mpi4py is built for our library: a command.
std::string command_for_mpi4py(const std::string& mpicc);

}  // namespace clump::image
