#include "inspect/interposers.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "inspect/elf_file.h"
#include "inspect/process_only.h"
#include "inspect/search.h"

namespace clump::image {
namespace {

using Names = std::vector<std::string_view>;

bool is_mpi_function(std::string_view name) {
  const std::size_t at = name.starts_with("PMPI_") ? 5 : name.starts_with("MPI_") ? 4 : 0;
  return at != 0 && name.size() > at && name[at] >= 'A' && name[at] <= 'Z';
}

bool has(const auto& names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

/// Whether the file's constants include this word as a string of its own.
bool has_constant(const ElfFile& file, std::string_view word) {
  const std::string_view constants = file.constants();
  for (std::size_t at = constants.find(word); at != std::string_view::npos;
       at = constants.find(word, at + 1)) {
    const bool begins = at == 0 || constants[at - 1] == '\0';
    if (begins && at + word.size() < constants.size() && constants[at + word.size()] == '\0') return true;
  }
  return false;
}

/// Whether a library provides memory of its own. Not a library that counts or marks what another allocator
/// provides: such a one looks up the next definition by name, or calls the C library's.
bool is_allocator(const ElfFile& file, const Names& defined) {
  if (!has(defined, "malloc") || !has(defined, "free")) return false;
  const auto imports = [&](std::string_view function) {
    return find_import(file, [&](std::string_view name) { return name == function; });
  };
  if (imports("__libc_malloc")) return false;
  return !(imports("dlsym") || imports("dlvsym")) || !has_constant(file, "malloc");
}

bool is_for_all_ranks(const std::string& path) {
  if (is_shared_library(path.c_str() + path.rfind('/') + 1)) return true;
  const ElfFile file(path);
  const std::string soname = file.first_string(DT_SONAME);
  if (!soname.empty() && is_shared_library(soname.c_str())) return true;
  const Names defined = file.defined_functions();
  return std::ranges::none_of(defined, is_mpi_function) && is_allocator(file, defined);
}

}  // namespace

std::vector<std::string> split_preloads(const std::string& list) {
  std::vector<std::string> parts;
  for (std::size_t begin = list.find_first_not_of(": "); begin != std::string::npos;) {
    const std::size_t end = std::min(list.find_first_of(": ", begin), list.size());
    parts.push_back(list.substr(begin, end - begin));
    begin = list.find_first_not_of(": ", end);
  }
  return parts;
}

std::string join_preloads(const std::vector<std::string>& parts) {
  std::string list;
  for (const std::string& part : parts) list.append(list.empty() ? "" : ":").append(part);
  return list;
}

Preloads divide_preloads(const std::string& preloads, const std::string& library_path) {
  Preloads divided;
  for (std::string& entry : split_preloads(preloads)) {
    const std::string path = find_library(entry, {}, {}, library_path);
    (is_for_all_ranks(path.empty() ? entry : path) ? divided.shared : divided.own)
        .push_back(std::move(entry));
  }
  return divided;
}

std::vector<std::string> interposers_among(const std::vector<std::string>& libraries,
                                           const std::vector<std::string>& hidden_by) {
  std::deque<ElfFile> files;  // owns the names
  std::unordered_set<std::string_view> hidden;
  for (const std::string& path : hidden_by) {
    for (const std::string_view name : files.emplace_back(path).defined_functions()) {
      if (!name.starts_with("_Z"))
        hidden.insert(name);  // except templates of the C++ library, which many libraries define
    }
  }
  std::vector<std::string> found;
  for (const std::string& path : libraries) {
    if (is_shared_library(path.c_str() + path.rfind('/') + 1)) continue;
    const ElfFile file(path);
    if (std::ranges::any_of(file.defined_functions(),
                            [&](std::string_view name) { return hidden.contains(name); }))
      found.push_back(path);
  }
  return found;
}

}  // namespace clump::image
