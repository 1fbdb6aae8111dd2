#include "image/loaded_mpi.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/program_path.h"
#include "inspect/elf_file.h"

namespace clump::image {

namespace {

std::vector<std::string> loaded_files() {
  std::vector<std::string> all;
  ::dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        const char* const name = info->dlpi_name;
        auto& files = *static_cast<std::vector<std::string>*>(argument);
        // The first file is the program.
        files.emplace_back(name != nullptr && *name != '\0' ? name
                           : files.empty()                  ? base::program_path()
                                                            : "");
        return 0;
      },
      &all);
  return all;
}

/// Whether a loaded file is an MPI library of another one's ABI that is none of ours.
bool is_other(std::string_view path) {
  const MpiKind kind = mpi_kind_of(path);
  return kind == MpiKind::kOther || (has_facade(kind) && !is_facade(path));
}

bool needs_ours(const std::string& file) {
  for (const std::string& name : ElfFile(file).strings(DT_NEEDED))
    if (mpi_kind_of(name) == MpiKind::kStandardAbi) return true;
  return false;
}

bool needs_other(const std::string& file) {
  for (const std::string& name : ElfFile(file).strings(DT_NEEDED))
    if (is_other(name)) return true;
  return false;
}

/// Finds another MPI library that is loaded, and the file that needs it, which is no MPI library itself.
/// `may_have_ours` false: returns nothing if a file needs Clump's library.
std::optional<WrongMpi> find(bool may_have_ours) {
  const std::vector<std::string> files = loaded_files();
  std::string other;
  for (const std::string& file : files)
    if (other.empty() && is_other(file)) other = file;
  if (other.empty()) return {};
  WrongMpi wrong{.user = other, .by = {}, .library = other.substr(other.rfind('/') + 1), .path = other};
  bool is_known = false;
  for (const std::string& file : files) {
    if (mpi_kind_of(file) != MpiKind::kNone) continue;
    if (!may_have_ours && needs_ours(file)) return {};
    if (is_known || !needs_other(file)) continue;
    is_known = true;
    wrong.user = file;
  }
  return wrong;
}

}  // namespace

std::optional<WrongMpi> other_mpi_here() { return find(true); }

std::optional<WrongMpi> only_other_mpi_here() { return find(false); }

std::optional<WrongMpi> missing_mpi(const char* name, const char* error) {
  const std::string_view text = error;
  const std::size_t end = text.find(':');
  if (end == text.npos || text.find("cannot open shared object file") == text.npos) return {};
  const std::string_view library = text.substr(0, end);
  if (!is_other(library)) return {};
  return WrongMpi{.user = name, .by = {}, .library = std::string(library), .path = {}};
}

std::optional<WrongMpi> other_mpi_at(const char* name, const void* address) {
  if (*name == 'P') ++name;
  bool begins = false;
  for (const char* const one : {"MPI_Init", "MPI_Init_thread", "MPI_Session_init"})
    begins = begins || std::strcmp(name, one) == 0;
  Dl_info info{};
  if (!begins || ::dladdr(address, &info) == 0 || info.dli_fname == nullptr) return {};
  if (!is_other(info.dli_fname)) return {};
  const std::string path = info.dli_fname;
  return WrongMpi{
      .user = base::program_path(), .by = {}, .library = path.substr(path.rfind('/') + 1), .path = path};
}

const std::string& own_mpicc() {
  static const auto& path = *new std::string([] {
    std::string folder = base::own_file();
    // The folder bin is beside lib, or beside the folder that lib is in: lib/x86_64-linux-gnu.
    for (int level = 0; level < 3; ++level) {
      folder.resize(std::min(folder.rfind('/'), folder.size()));
      if (const std::string found = folder + "/bin/mpicc"; level > 0 && ::access(found.c_str(), X_OK) == 0)
        return found;
    }
    return std::string("mpicc");
  }());
  return path;
}

}  // namespace clump::image
