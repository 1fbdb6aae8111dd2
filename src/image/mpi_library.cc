#include "image/mpi_library.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "image/elf_file.h"

namespace clump::image {

namespace {

constexpr std::string_view kMpich = "MPICH or a relative of it (Intel MPI, MVAPICH, Cray MPICH)";
constexpr std::string_view kOpenMpi = "Open MPI";

struct Family {
  std::string_view prefix;  ///< that the name of the library begins with
  std::string_view name;    ///< empty: the file has to be read
};

// The first row that matches counts. Open MPI before 2.0 has the same number as MPICH's ABI.
constexpr Family kFamilies[] = {
    {"libmpi.so.12", {}},        {"libmpi.so.", kOpenMpi},
    {"libmpich.so", kMpich},     {"libmpi_cray.so", kMpich},
    {"libmpi_gnu", kMpich},      {"libmpi_mt.so", "Intel MPI"},
    {"libmpi_intel.so", kMpich}, {"libmpifort.so.12", kMpich},
    {"libmpicxx.so.12", kMpich}, {"libmpi_mpifh.so", kOpenMpi},
    {"libmpi_cxx.so", kOpenMpi}, {"libmpi_usempi", kOpenMpi},
    {"libmpi.so", {}},
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Family* find(std::string_view library) {
  const std::string_view name = file_name(library);
  const auto found =
      std::ranges::find_if(kFamilies, [&](const Family& one) { return name.starts_with(one.prefix); });
  return found == std::end(kFamilies) ? nullptr : found;
}

bool is_python_module(std::string_view path) {
  return path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos ||
         path.find(".cpython-") != path.npos;
}

}  // namespace

MpiKind mpi_kind_of(std::string_view library) {
  if (file_name(library).starts_with("libmpi_abi.so")) return MpiKind::kStandardAbi;
  return find(library) != nullptr ? MpiKind::kOther : MpiKind::kNone;
}

std::string family_of(const WrongMpi& wrong) {
  const Family* const family = find(wrong.library);
  if (family != nullptr && !family->name.empty()) return std::string(family->name);
  if (!wrong.path.empty() && ElfFile(wrong.path).defines("ompi_mpi_comm_world")) return std::string(kOpenMpi);
  const bool is_mpich = file_name(wrong.library).starts_with("libmpi.so.12");
  return is_mpich ? std::string(kMpich) : "another MPI library";
}

std::string command_for_mpi4py(const std::string& mpicc) {
  return fmt::format(
      "MPICC={} python3 -m pip install --force-reinstall --no-cache-dir --no-binary=mpi4py mpi4py", mpicc);
}

std::string words_about(const WrongMpi& wrong, const std::string& mpicc) {
  std::string needs = fmt::format("it needs {}", wrong.library);
  if (!wrong.by.empty() && wrong.by != wrong.user) needs += " by way of " + wrong.by;
  if (!wrong.path.empty() && wrong.path != wrong.library) needs += ", here " + wrong.path;
  std::string what = fmt::format(
      "compile it with Clump's mpicc, or with any that links libmpi_abi.so.1, or start it with the mpiexec "
      "of that "
      "library");
  if (wrong.user.find("/mpi4py/") != wrong.user.npos)
    what = "install mpi4py for it: " + command_for_mpi4py(mpicc);
  else if (is_python_module(wrong.user))
    what = fmt::format("install its package from sources, compiled with Clump's mpicc ({})", mpicc);
  return fmt::format("'{}' is made for {} ({}), and Clump runs what is made for the MPI standard ABI: {}",
                     wrong.user, family_of(wrong), needs, what);
}

}  // namespace clump::image
