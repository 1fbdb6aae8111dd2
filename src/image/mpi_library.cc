#include "image/mpi_library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/program_path.h"
#include "image/elf_file.h"
#include "image/process_only.h"

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
    {"libmpi.so.12", {}},         {"libmpi.so.", kOpenMpi},      {"libmpich.so", kMpich},
    {"libmpi_cray.so", kMpich},   {"libmpichfort.so", kMpich},   {"libmpichcxx.so", kMpich},
    {"libmpi_gnu", kMpich},       {"libmpi_mt.so", "Intel MPI"}, {"libmpi_intel.so", kMpich},
    {"libmpifort.so.12", kMpich}, {"libmpicxx.so.12", kMpich},   {"libmpi_mpifh.so", kOpenMpi},
    {"libmpi_cxx.so", kOpenMpi},  {"libmpi_usempi", kOpenMpi},   {"libmpi.so", {}},
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Family* find(std::string_view library) {
  const std::string_view name = file_name(library);
  const auto found =
      std::ranges::find_if(kFamilies, [&](const Family& one) { return name.starts_with(one.prefix); });
  return found == std::end(kFamilies) ? nullptr : found;
}

// Names that a facade of ours has (bindings/mpich).
constexpr std::string_view kMpichNames[] = {"libmpi.so.12",       "libmpich.so.12",  "libmpifort.so.12",
                                            "libmpichfort.so.12", "libmpicxx.so.12", "libmpichcxx.so.12"};
constexpr std::string_view kFacadeFolder = "/clump/mpich/";

std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

/// The folder that has the facades. This code is in libclump_host.so, beside whose folder it is, and in
/// tools.
const std::string& facade_folder() {
  static const auto& folder = *new std::string([] {
    Dl_info own{};
    ::dladdr(reinterpret_cast<const void*>(&facade_folder), &own);
    const std::string_view file = own.dli_fname != nullptr ? own.dli_fname : "";
    std::string path = folder_of(file) + std::string(kFacadeFolder);
    if (file_name(file) == "libclump_host.so") return path;
    const std::string prefix = folder_of(folder_of(base::program_path()));
    for (const char* const libraries : {"/lib", "/" CLUMP_LIBRARY_FOLDER}) {
      path = prefix + libraries + std::string(kFacadeFolder);
      if (::access(path.c_str(), X_OK) == 0) break;
    }
    return path;
  }());
  return folder;
}

bool is_python_module(std::string_view path) {
  return path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos ||
         path.find(".cpython-") != path.npos;
}

/// MPICH's libraries for other languages; empty: it is none of them.
std::string_view language_of(std::string_view library) {
  const std::string_view name = file_name(library);
  if (name.starts_with("libmpifort.so.12") || name.starts_with("libmpichfort.so")) return "Fortran";
  if (name.starts_with("libmpicxx.so.12") || name.starts_with("libmpichcxx.so")) return "C++";
  return {};
}

/// A procedure, a module or a common block of MPI's.
bool is_of_fortran(std::string_view name) {
  for (const std::string_view prefix :
       {"mpi_", "pmpi_", "mpix_", "pmpix_", "mpifcmb", "mpipriv", "__mpi", "mpir_"})
    if (name.starts_with(prefix)) return true;
  return name.find("mpi_f08") != name.npos;
}

}  // namespace

MpiKind mpi_kind_of(std::string_view library) {
  if (file_name(library).starts_with("libmpi_abi.so")) return MpiKind::kStandardAbi;
  if (std::ranges::find(kMpichNames, file_name(library)) != std::end(kMpichNames)) return MpiKind::kMpich;
  return find(library) != nullptr ? MpiKind::kOther : MpiKind::kNone;
}

std::string facade_for(std::string_view library) {
  if (mpi_kind_of(library) != MpiKind::kMpich) return {};
  std::string path = facade_folder() + std::string(file_name(library));
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

std::string facade_for(std::string_view library, const ElfFile& user) {
  std::string facade = facade_for(library);
  if (facade.empty()) return facade;
  // Open MPI before 2.0 had the number of MPICH's ABI; its handles are addresses of variables. Facades of
  // libraries for other languages are empty: wrappers name these for programs in C, too.
  const std::string_view language = language_of(library);
  const bool is_more = find_import(user, [&](std::string_view name) {
    if (language == "Fortran") return is_of_fortran(name);
    if (language == "C++") return name.starts_with("_Z") && name.find("N3MPI") != name.npos;
    return name.starts_with("ompi_mpi_");
  });
  return is_more ? std::string() : facade;
}

bool is_facade(std::string_view path) {
  return mpi_kind_of(path) == MpiKind::kMpich && path.find(kFacadeFolder) != path.npos;
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
  if (const std::string_view language = language_of(wrong.library); !language.empty())
    return fmt::format("'{}' is made for {} ({}), of which Clump has the C library, not yet that of {}: {}",
                       wrong.user, family_of(wrong), needs, language, what);
  return fmt::format(
      "'{}' is made for {} ({}), and Clump runs what is made for the MPI standard ABI or for MPICH's: {}",
      wrong.user, family_of(wrong), needs, what);
}

}  // namespace clump::image
