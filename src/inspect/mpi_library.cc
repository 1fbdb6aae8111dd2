#include "inspect/mpi_library.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/program_path.h"
#include "inspect/elf_file.h"
#include "inspect/process_only.h"

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
    {"libmpichfort.so", kMpich}, {"libmpichcxx.so", kMpich},
    {"libmpi_gnu", kMpich},      {"libmpi_mt.so", "Intel MPI"},
    {"libmpi_intel.so", kMpich}, {"libmpifort.so.12", kMpich},
    {"libmpicxx.so.12", kMpich}, {"libmpi_mpifh.so", kOpenMpi},
    {"libmpi_usempi", kOpenMpi}, {"libmpi.so", {}},
};

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

const Family* find(std::string_view library) {
  const std::string_view name = file_name(library);
  const auto found =
      std::ranges::find_if(kFamilies, [&](const Family& one) { return name.starts_with(one.prefix); });
  return found == std::end(kFamilies) ? nullptr : found;
}

/// Names that our facades have (bindings/mpich, bindings/openmpi), and their folders. One of no kind is no
/// MPI library: it is in the place of a part of one.
struct FacadeName {
  std::string_view library;
  MpiKind kind;
  std::string_view folder;
};
constexpr std::string_view kFacadeFolder = "/clump/";
/// Of Open MPI 4. libmpi_cxx.so.40 needs it for four names, which ours has, and does not need the libraries
/// that Debian's needs (hwloc, libevent, udev), each of which each rank would have a copy of.
constexpr std::string_view kOpalLibrary = "libopen-pal.so.40";
constexpr std::string_view kOpalNames[] = {"opal_class_init_epoch", "opal_class_initialize",
                                           "opal_list_item_t_class", "opal_uses_threads"};
constexpr FacadeName kFacades[] = {
    {"libmpi.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpich.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpifort.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpichfort.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpicxx.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpichcxx.so.12", MpiKind::kMpich, "mpich/"},
    {"libmpi.so.40", MpiKind::kOpenMpi, "openmpi/"},
    {kOpalLibrary, MpiKind::kNone, "openmpi/"},
    {"libmpi_mpifh.so.40", MpiKind::kOpenMpi, "openmpi/"},
    {"libmpi_usempi_ignore_tkr.so.40", MpiKind::kOpenMpi, "openmpi/"},
    {"libmpi_usempif08.so.40", MpiKind::kOpenMpi, "openmpi/"},
};

/// Also by the name of the file that a library's name leads to: "libmpi.so.40.30.4".
const FacadeName* find_facade(std::string_view library) {
  const auto found = std::ranges::find_if(kFacades, [name = file_name(library)](const FacadeName& one) {
    return name.starts_with(one.library) && (name == one.library || name[one.library.size()] == '.');
  });
  return found == std::end(kFacades) ? nullptr : found;
}

std::string folder_of(std::string_view path) { return std::string(path.substr(0, path.rfind('/'))); }

/// The folder that has the facades' folders. This code is in libclump_host.so, beside whose folder it is, and
/// in tools.
const std::string& facade_folder() {
  static const auto& folder = *new std::string([] {
    const std::string_view file = base::own_file();
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

/// Of the standard's ABI.
constexpr std::string_view kFortranLibrary = "libmpifort_abi.so.1";

bool is_python_module(std::string_view path) {
  return path.find("/site-packages/") != path.npos || path.find("/dist-packages/") != path.npos ||
         path.find(".cpython-") != path.npos;
}

/// MPICH's and Open MPI's libraries for other languages; empty: it is none of them. That of Open MPI for C++
/// is none: it is a user of its C library, and does with our facade what it does with that.
std::string_view language_of(std::string_view library) {
  const std::string_view name = file_name(library);
  if (name.starts_with("libmpifort.so.12") || name.starts_with("libmpichfort.so")) return "Fortran";
  if (name.starts_with("libmpi_mpifh.so") || name.starts_with("libmpi_usempi")) return "Fortran";
  if (name.starts_with("libmpicxx.so.12") || name.starts_with("libmpichcxx.so")) return "C++";
  return {};
}

bool is_of_opal(std::string_view name) { return name.starts_with("opal_") || name.starts_with("mca_"); }

}  // namespace

MpiKind mpi_kind_of(std::string_view library) {
  if (file_name(library).starts_with("libmpi_abi.so")) return MpiKind::kStandardAbi;
  if (const FacadeName* const facade = find_facade(library)) return facade->kind;
  return find(library) != nullptr ? MpiKind::kOther : MpiKind::kNone;
}

std::string_view name_of(MpiKind kind) { return kind == MpiKind::kMpich ? "MPICH" : kOpenMpi; }

std::string facade_for(std::string_view library) {
  const FacadeName* const facade = find_facade(library);
  if (facade == nullptr) return {};
  std::string path = facade_folder() + std::string(facade->folder) + std::string(facade->library);
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

std::string facade_for(std::string_view library, const ElfFile& user) {
  std::string facade = facade_for(library);
  if (facade.empty()) return facade;
  if (file_name(library) == kOpalLibrary) {
    const bool is_more = find_import(user, [](std::string_view name) {
      return is_of_opal(name) && std::ranges::find(kOpalNames, name) == std::end(kOpalNames);
    });
    return is_more ? std::string() : facade;
  }
  // Open MPI before 2.0 had the number of MPICH's ABI; its handles are addresses of variables. MPICH's facade
  // of the library for C++ is empty: wrappers name it for programs in C, too.
  if (mpi_kind_of(library) == MpiKind::kOpenMpi) return facade;
  const std::string_view language = language_of(library);
  if (language == "Fortran") return facade;
  const bool is_more = find_import(user, [&](std::string_view name) {
    if (language == "C++") return name.starts_with("_Z") && name.find("N3MPI") != name.npos;
    return name.starts_with("ompi_mpi_");
  });
  return is_more ? std::string() : facade;
}

std::string own_fortran_library(std::string_view library) {
  if (file_name(library) != kFortranLibrary) return {};
  std::string path = folder_of(folder_of(facade_folder())) + "/" + std::string(kFortranLibrary);
  return ::access(path.c_str(), R_OK) == 0 ? path : std::string();
}

bool is_for_fortran(std::string_view library) { return language_of(library) == "Fortran"; }

std::string_view c_library_of(std::string_view library) {
  if (mpi_kind_of(library) == MpiKind::kOpenMpi) return "libmpi.so.40";
  return file_name(library).starts_with("libmpich") ? "libmpich.so.12" : "libmpi.so.12";
}

bool is_facade(std::string_view path) {
  const FacadeName* const facade = find_facade(path);
  if (facade == nullptr) return false;
  return path.find(std::string(kFacadeFolder) + std::string(facade->folder)) != path.npos;
}

std::string_view family_inside(const ElfFile& program) {
  if (!program.has_symbol("MPI_Init") && !program.has_symbol("PMPI_Init")) return {};
  if (program.has_symbol("ompi_mpi_comm_world")) return kOpenMpi;
  return program.has_symbol("MPIR_Process") ? kMpich : std::string_view();
}

std::string words_about_inside(std::string_view family) {
  return fmt::format(
      "it has the MPI library inside, {}, linked from an archive (libmpi.a), so that Clump's cannot take its "
      "place: link it to the shared library of that MPI, compile it with Clump's mpicc, or start it with the "
      "mpiexec of that library",
      family);
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
  const std::string_view language = language_of(wrong.library);
  if (language == "Fortran")
    what = "compile it with Clump's mpifort, or start it with the mpiexec of that library";
  if (!language.empty())
    return fmt::format("'{}' is made for {} ({}), of which Clump has the C library, not yet that of {}: {}",
                       wrong.user, family_of(wrong), needs, language, what);
  return fmt::format(
      "'{}' is made for {} ({}), and Clump runs what is made for the MPI standard ABI, for MPICH's or for "
      "Open MPI's from 3.0 on: {}",
      wrong.user, family_of(wrong), needs, what);
}

}  // namespace clump::image
