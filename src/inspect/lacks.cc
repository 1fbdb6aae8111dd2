#include "inspect/lacks.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string_view>
#include <utility>

#include "inspect/elf_file.h"
#include "inspect/mpi_library.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

/// A name of MPI's in C, or of the families' own.
bool is_of_c(std::string_view name) {
  const std::string_view plain = name.starts_with("P") ? name.substr(1) : name;
  return plain.starts_with("MPI_") || plain.starts_with("MPIX_") || plain.starts_with("MPIR_") ||
         plain.starts_with("OMPI_") || plain.starts_with("ompi_");
}

/// A procedure, a module or a common block of MPI's in Fortran. Programs have procedures with such names,
/// too.
bool is_of_fortran(std::string_view name) {
  for (const std::string_view prefix :
       {"mpi_", "pmpi_", "mpix_", "pmpix_", "mpifcmb", "mpipriv", "__mpi", "pmpir_"})
    if (name.starts_with(prefix)) return true;
  return false;
}

/// Whether ld.so binds the functions that the file calls before the program begins (ld -z now), whatever
/// LD_BIND_NOW says.
bool is_bound_at_start(const ElfFile& file) {
  const auto has_flag = [&](ElfW(Sxword) tag, std::uint64_t flag) {
    const ElfW(Dyn)* const entry = file.entry(tag);
    return entry != nullptr && (entry->d_un.d_val & flag) != 0;
  };
  return file.entry(DT_BIND_NOW) != nullptr || has_flag(DT_FLAGS, DF_BIND_NOW) ||
         has_flag(DT_FLAGS_1, DF_1_NOW);
}

class LacksSearch {
 public:
  LacksSearch(const std::string& program, const std::vector<std::string>& libraries) {
    add(program);
    for (const std::string& path : libraries) {
      if (is_shared_library(path.substr(path.rfind('/') + 1).c_str())) continue;
      has_fortran_ = has_fortran_ || (is_facade(path) && is_for_fortran(path));
      add(path);
    }
  }

  Lacks run() {
    for (const One& one : files_) {
      if (is_facade(one.path)) continue;
      const bool now = is_bound_at_start(one.file);
      look(one, one.file.relocations(DT_JMPREL, DT_PLTRELSZ), now, now);
      look(one, one.file.relocations(DT_RELA, DT_RELASZ), true, now);
    }
    return std::move(lacks_);
  }

 private:
  struct One {
    explicit One(const std::string& at) : path(at), file(at) {}
    std::string path;
    ElfFile file;
  };

  /// Facades come first, as nearly all names are theirs. A facade may stand on another one, which nothing
  /// else names (libmpi_usempif08.so.40 on libmpi_mpifh.so.40).
  void add(const std::string& path) {
    if (std::ranges::any_of(files_, [&](const One& one) { return one.path == path; })) return;
    if (!is_facade(path)) return static_cast<void>(files_.emplace_back(path));
    const ElfFile& file = files_.emplace_front(path).file;
    for (const std::string& name : file.strings(DT_NEEDED)) {
      const std::string beside = path.substr(0, path.rfind('/') + 1) + name;
      if (is_facade(beside)) add(beside);
    }
  }

  void look(const One& one, std::span<const ElfW(Rela)> relocations, bool at_start, bool binds_now) {
    for (const ElfW(Rela) & relocation : relocations) {
      const std::uint32_t number = ELF64_R_SYM(relocation.r_info);
      const std::string_view name = number != 0 ? one.file.undefined_symbol(number) : std::string_view();
      if (!is_of_c(name) && !(has_fortran_ && is_of_fortran(name))) continue;
      if (one.file.is_weak(number) || is_defined(name)) continue;
      if (std::ranges::find(lacks_.names, name) == lacks_.names.end()) lacks_.names.emplace_back(name);
      if (!at_start || !lacks_.at_start.empty()) continue;
      lacks_.at_start = name;
      lacks_.at_start_in = one.path;
      lacks_.binds_now = binds_now;
    }
  }

  bool is_defined(std::string_view name) const {
    return std::ranges::any_of(files_, [&](const One& one) { return one.file.defines(name); });
  }

  std::deque<One> files_;
  bool has_fortran_ = false;
  Lacks lacks_;
};

}  // namespace

std::string Lacks::list() const {
  constexpr std::size_t kMost = 3;
  const std::size_t shown = std::min(names.size(), kMost);
  const std::string text = fmt::format("{}", fmt::join(std::span(names).first(shown), ", "));
  return names.size() > shown ? fmt::format("{} and {} more", text, names.size() - shown) : text;
}

Lacks find_lacks(const std::string& program, const std::vector<std::string>& libraries) {
  return LacksSearch(program, libraries).run();
}

}  // namespace clump::image
