#include "inspect/inspect.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <map>
#include <set>
#include <string_view>

#include "base/environment.h"
#include "inspect/allocators.h"
#include "inspect/elf_file.h"
#include "inspect/lacks.h"
#include "inspect/process_only.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

bool starts_with(std::string_view text, std::string_view with) { return text.substr(0, with.size()) == with; }

std::string_view base_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_sanitizer(std::string_view soname) {
  for (std::string_view name : {"libasan.so", "libtsan.so", "libubsan.so", "liblsan.so", "libclang_rt."}) {
    if (starts_with(soname, name)) return true;
  }
  return false;
}

/// Walks the libraries breadth first, as ld.so does, and records what it finds.
class LibraryWalk {
 public:
  LibraryWalk(Verdict& verdict, const std::string& library_path)
      : verdict_(verdict), library_path_(library_path) {}

  void run(const std::string& program, const std::vector<std::string>& preloaded) {
    queue_.push_back({program, {}});
    for (const std::string& name : preloaded) {
      std::string found = find_library(name, {}, {}, library_path_);
      if (found.empty()) continue;  // ld.so will report it, and goes on
      verdict_.libraries.push_back(found);
      queue_.push_back({std::move(found), {}});
    }
    while (!queue_.empty()) {
      const Item item = std::move(queue_.front());
      queue_.pop_front();
      visit(item, item.path == program);
    }
    note_c_library();
    note_late_calls();
  }

 private:
  struct Item {
    std::string path;
    std::vector<std::string> inherited;
  };

  void visit(const Item& item, bool is_program) {
    const ElfFile file(item.path);
    if (verdict_.text_relocations_in.empty() && file.has_text_relocations())
      verdict_.text_relocations_in = item.path;
    const bool is_shared = is_shared_library(std::string(base_name(item.path)).c_str());
    if (!is_shared) note_imports(file, item.path, is_program);
    note_allocator(file, item.path, is_shared);
    if (verdict_.profiled_in.empty() && file.has_section("__llvm_prf_cnts")) verdict_.profiled_in = item.path;
    const SearchPaths paths = search_paths_of(file, item.path);
    std::vector<std::string> inherited = paths.rpath;
    inherited.insert(inherited.end(), item.inherited.begin(), item.inherited.end());
    const std::vector<std::string>& needed = needs_[std::string(base_name(item.path))] =
        file.strings(DT_NEEDED);
    for (const std::string& name : needed) {
      note_mpi(name, file, item.path);
      if (!seen_.insert(name).second) {
        replace_facade(name, file, paths, inherited);
        continue;
      }
      std::string found = find_library(name, paths, item.inherited, library_path_);
      if (base_name(name) == verdict_.mpi_library) verdict_.mpi_path = found;
      if (std::string facade = facade_for(base_name(name), file); !facade.empty()) {
        if (base_name(name) == verdict_.mpi_library) verdict_.facade = facade;
        found = std::move(facade);
      }
      if (found.empty()) {
        found = own_fortran_library(name);
        if (!found.empty()) verdict_.brought = found;
      }
      if (found.empty()) {
        verdict_.missing.push_back(name);
        continue;
      }
      if (is_sanitizer(base_name(name))) verdict_.sanitizers.push_back(found);
      verdict_.libraries.push_back(found);
      // The libraries that another MPI library needs do not matter, because it will not be loaded.
      if (mpi_kind_of(base_name(name)) == MpiKind::kNone) queue_.push_back({std::move(found), inherited});
    }
  }

  /// A library that was visited before has got a facade in the place of a part of an MPI library, and `user`
  /// needs more of that part than the facade has: then both get the part itself.
  void replace_facade(const std::string& name, const ElfFile& user, const SearchPaths& paths,
                      const std::vector<std::string>& inherited) {
    if (mpi_kind_of(base_name(name)) != MpiKind::kNone) return;
    const std::string facade = facade_for(base_name(name));
    if (facade.empty() || !facade_for(base_name(name), user).empty()) return;
    const auto taken = std::ranges::find(verdict_.libraries, facade);
    std::string found = find_library(name, paths, inherited, library_path_);
    if (taken == verdict_.libraries.end() || found.empty()) return;
    *taken = found;
    queue_.push_back({std::move(found), inherited});
  }

  /// A family's library for another language needs its C library, which the program may not name.
  void note_c_library() {
    if (!has_facade(verdict_.mpi) || is_for_c(verdict_.mpi_library)) return;
    verdict_.mpi_library = c_library_of(verdict_.mpi_library);
    verdict_.facade = facade_for(verdict_.mpi_library);
    if (!verdict_.facade.empty()) verdict_.libraries.push_back(verdict_.facade);
  }

  /// ld.so relocates a library before those that name it. If one uses a function of libm that has variants
  /// and does not name libm, ld.so may call libm before that is relocated, and the process ends. That is so
  /// where it binds all references at the start, as images need it; lazy binding comes later.
  void note_late_calls() {
    static constexpr std::string_view kMath = "libm.so.6";
    const auto is_math = [](const std::string& path) { return base_name(path) == kMath; };
    const auto math = std::ranges::find_if(verdict_.libraries, is_math);
    if (math == verdict_.libraries.end()) return;
    const ElfFile file(*math);
    for (const std::string& path : verdict_.libraries) {
      const std::string name(base_name(path));
      if (is_shared_library(name.c_str()) || is_facade(path) || names(name, std::string(kMath))) continue;
      verdict_.late_calls =
          find_import(ElfFile(path), [&](std::string_view function) { return file.resolves(function); });
      if (verdict_.late_calls) return;
    }
  }

  /// Whether a library names another one, itself or by way of others.
  bool names(const std::string& library, const std::string& other) const {
    std::set<std::string> seen;
    std::deque<std::string> left{library};
    while (!left.empty()) {
      const auto found = needs_.find(left.front());
      left.pop_front();
      if (found == needs_.end()) continue;
      for (const std::string& needed : found->second) {
        if (needed == other) return true;
        if (seen.insert(needed).second) left.push_back(needed);
      }
    }
    return false;
  }

  /// Of a family's libraries, the one that the others are over.
  static bool is_for_c(const std::string& name) {
    return starts_with(base_name(name), "libmpi.so") || starts_with(base_name(name), "libmpich.so");
  }

  /// Of a library that `user` names.
  static MpiKind kind_of(const std::string& name, const ElfFile& user) {
    const MpiKind kind = mpi_kind_of(base_name(name));
    return has_facade(kind) && facade_for(base_name(name), user).empty() ? MpiKind::kOther : kind;
  }

  void note_mpi(const std::string& name, const ElfFile& user, const std::string& by) {
    const MpiKind kind = kind_of(name, user);
    // A library of another ABI is decisive: it is the one to name.
    if (kind == MpiKind::kNone || verdict_.mpi == MpiKind::kOther) return;
    const bool is_more = kind == verdict_.mpi && is_for_c(name) && !is_for_c(verdict_.mpi_library);
    if (kind == verdict_.mpi && !is_more) return;
    if (verdict_.mpi != MpiKind::kNone && kind != MpiKind::kOther && !is_more) {
      verdict_.second_mpi = std::string(base_name(name));
      verdict_.second_mpi_needed_by = by;
      return;
    }
    verdict_.mpi = kind;
    verdict_.mpi_library = std::string(base_name(name));
    verdict_.mpi_needed_by = by;
  }

  void note_imports(const ElfFile& file, const std::string& path, bool is_program) {
    ImportedNeed need(is_program);
    find_import(file, [&](std::string_view name) {
      need.see(name);
      if (verdict_.malloc_function.empty() && is_of_libc_malloc(name)) {
        verdict_.malloc_function = name;
        verdict_.malloc_function_in = path;
      }
      return false;
    });
    if (need.function().empty() || !verdict_.process_function.empty()) return;
    verdict_.process_function = need.function();
    verdict_.process_reason = need.reason();
    verdict_.process_function_in = path;
  }

  void note_allocator(const ElfFile& file, const std::string& path, bool is_shared) {
    const std::string name(base_name(path));
    if (is_shared && !is_allocator_library(name.c_str())) return;  // the C library, or a sanitizer
    std::string& noted = is_shared ? verdict_.allocator : verdict_.own_malloc;
    if (noted.empty() && defines_malloc(file)) noted = path;
  }

  Verdict& verdict_;
  std::string library_path_;
  std::deque<Item> queue_;
  std::set<std::string> seen_;
  std::map<std::string, std::vector<std::string>> needs_;  ///< what each file names, by its own name
};

FileKind kind_of(const std::string& path, const struct stat& info, const ElfFile& file, Verdict& verdict) {
  if (!S_ISREG(info.st_mode)) return FileKind::kNotRegular;
  if (access(path.c_str(), X_OK) != 0) return FileKind::kNotExecutable;
  if (file.valid()) return FileKind::kElf;
  if (file.has_magic()) return FileKind::kForeign;
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  if (!starts_with(text, "#!")) return FileKind::kOther;
  const std::string_view line = text.substr(2, std::min(text.find('\n'), text.size()) - 2);
  const std::size_t begin = std::min(line.find_first_not_of(" \t"), line.size());
  verdict.interpreter = std::string(line.substr(begin, line.find_first_of(" \t\r", begin) - begin));
  return FileKind::kScript;
}

void read_program(const ElfFile& file, const std::string& path, const struct stat& info, Verdict& verdict) {
  verdict.dynamic = file.segment(PT_INTERP) != nullptr;
  verdict.pie = file.header().e_type == ET_DYN;
  verdict.set_id = (info.st_mode & (S_ISUID | S_ISGID)) != 0 ||
                   getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  if (const ElfW(Phdr)* tls = file.segment(PT_TLS)) {
    const std::uint64_t align = std::max<std::uint64_t>(tls->p_align, 1);
    verdict.tls_bytes = (tls->p_memsz + align - 1) / align * align;
  }
}

std::string reason_against(const std::string& path, const Verdict& verdict) {
  switch (verdict.kind) {
    case FileKind::kMissing:
      return fmt::format("{}: {}", path, std::strerror(errno));
    case FileKind::kNotRegular:
      return fmt::format("{} is not a regular file", path);
    case FileKind::kNotExecutable:
      return fmt::format("{} has no permission to execute (chmod +x)", path);
    case FileKind::kScript:
      return fmt::format("{} is a script for {}: an interpreter's state cannot be made private for each rank",
                         path, verdict.interpreter);
    case FileKind::kForeign:
      return fmt::format("{} is a program for another machine", path);
    case FileKind::kOther:
      return fmt::format("{} is neither an ELF program nor a script", path);
    case FileKind::kElf:
      break;
  }
  if (!verdict.mpi_inside.empty()) return words_about_inside(verdict.mpi_inside);
  if (!verdict.dynamic) return fmt::format("{} is statically linked: link it without -static", path);
  if (!verdict.pie) {
    return fmt::format("{} can be loaded at one address only: compile it with -fPIE and link it with -pie",
                       path);
  }
  if (verdict.set_id)
    return fmt::format("{} changes its user, its group or its capabilities when it starts", path);
  if (!verdict.text_relocations_in.empty()) {
    return fmt::format("{} has relocations in its code: compile all of it with -fPIC",
                       verdict.text_relocations_in);
  }
  if (!verdict.process_function.empty()) {
    return fmt::format("{} calls {}(), which {}: its ranks are processes", verdict.process_function_in,
                       verdict.process_function, verdict.process_reason);
  }
  if (!verdict.own_malloc.empty()) {
    return fmt::format(
        "{} defines malloc(): each rank would have an allocator of its own, and the C library, which ranks "
        "share, that of one of them: its ranks are processes",
        verdict.own_malloc);
  }
  if (!verdict.profiled_in.empty()) {
    return fmt::format(
        "{} was compiled with -fprofile-instr-generate, which counts for a process: its ranks are processes",
        verdict.profiled_in);
  }
  if (verdict.mpi == MpiKind::kOther) {
    return words_about({path, verdict.mpi_needed_by, verdict.mpi_library, verdict.mpi_path}, "mpicc");
  }
  if (!verdict.second_mpi.empty()) return words_about_two(verdict);
  if (!verdict.missing.empty()) {
    return fmt::format("{} needs {}, which is not found: set LD_LIBRARY_PATH", path, verdict.missing.front());
  }
  if (verdict.lacks.any()) {
    return fmt::format(
        "{} names {}, which Clump does not have, so functions can be bound only when they are called: its "
        "ranks are processes",
        path, verdict.lacks.list());
  }
  return {};
}

}  // namespace

std::string words_about_two(const Verdict& verdict) {
  return fmt::format(
      "it needs two MPI libraries, whose handles differ: {} (named by {}) and {} (named by {}); build both "
      "for "
      "the same one",
      verdict.mpi_library, verdict.mpi_needed_by, verdict.second_mpi, verdict.second_mpi_needed_by);
}

std::string words_about_lacks(const Verdict& verdict) {
  const Lacks& lacks = verdict.lacks;
  const std::string what = fmt::format("is made for {}'s ABI and names ", name_of(verdict.mpi));
  if (lacks.at_start.empty())
    return fmt::format(
        "{}{}, which Clump does not have: a rank that calls {} ends there, and the rest works (the ranks are "
        "processes, in which functions are bound when they are called)",
        what, lacks.list(), lacks.names.size() == 1 ? "it" : "one of them");
  return fmt::format(
      "{}{}, which Clump does not have and ld.so looks for before the program begins, as {} {}", what,
      lacks.at_start, lacks.at_start_in,
      lacks.binds_now ? "is linked with -z now: link it with -z lazy, and all works that does not call it"
                      : "takes its address: leave that out, or start it with the mpiexec of that library");
}

Verdict inspect(const std::string& path, const std::string& library_path,
                const std::vector<std::string>& preloaded) {
  Verdict verdict;
  struct stat info {};
  if (stat(path.c_str(), &info) == 0) {
    const ElfFile file(path);
    verdict.kind = kind_of(path, info, file, verdict);
    if (verdict.kind == FileKind::kElf) {
      read_program(file, path, info, verdict);
      LibraryWalk(verdict, library_path).run(path, preloaded);
      if (verdict.mpi == MpiKind::kNone) verdict.mpi_inside = family_inside(file);
      if (!verdict.facade.empty()) verdict.lacks = find_lacks(path, verdict.libraries);
      // It does not matter whether the MPI library is installed where the file looks for it: mpiexec brings
      // its own.
      std::erase_if(verdict.missing,
                    [](const std::string& name) { return mpi_kind_of(name) == MpiKind::kStandardAbi; });
    }
    errno = 0;
  }
  verdict.why_not = reason_against(path, verdict);
  return verdict;
}

Verdict inspect(const std::string& path) {
  const char* library_path = base::variable("LD_LIBRARY_PATH");
  return inspect(path, library_path != nullptr ? library_path : "");
}

}  // namespace clump::image
