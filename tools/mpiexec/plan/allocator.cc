#include "plan/allocator.h"

#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstdlib>
#include <string_view>

#include "command/options.h"
#include "common/control_groups.h"
#include "common/places.h"
#include "inspect/allocators.h"
#include "inspect/elf_file.h"
#include "inspect/search.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

/// By the names that people call them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kLibraries{{
    {"jemalloc", "libjemalloc.so.2"},
    {"tcmalloc", "libtcmalloc_minimal.so.4"},
    {"snmalloc", "libsnmallocshim.so"},
    {"tbbmalloc", "libtbbmalloc_proxy.so.2"},
    {"hoard", "libhoard.so"},
}};

/// What --check sets.
constexpr const char* kCheckVariable = "CLUMP_CHECK";

std::string asked_for(const pmi::Job& job) {
  for (const pmi::App& app : job.apps) {
    if (std::string value = value_of(app.environment, kMallocVariable); !value.empty()) return value;
  }
  const char* const own = std::getenv(kMallocVariable);
  return own != nullptr ? own : "";
}

/// The variables by which users set the C library's allocator.
std::string setting_of_libc(const pmi::App& app) {
  for (const std::string_view entry : app.environment) {
    const std::string_view name = entry.substr(0, entry.find('='));
    if (name == "GLIBC_TUNABLES" && entry.find("glibc.malloc.") != std::string_view::npos)
      return "GLIBC_TUNABLES";
    if (name.starts_with("MALLOC_") && (name.ends_with("_") || name == "MALLOC_ARENA_MAX"))
      return std::string(name);
  }
  return {};
}

/// mimalloc reserves more address space than it uses, in more pieces: three for each rank that allocates.
std::string limit_of_address_space(int ranks, long mappings) {
  const long most = tools::read_number("/proc/sys/vm/max_map_count").value_or(LONG_MAX);
  if (mappings + 3L * ranks > most / 2) return "vm.max_map_count limits the mappings of so many ranks";
  rlimit limit;
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
    return "ulimit -v limits the address space";
  if (tools::read_number("/proc/sys/vm/overcommit_memory") == 2)
    return "vm.overcommit_memory=2 counts what is reserved";
  return {};
}

base::Status find_allocator(const std::string& word, const std::string& library_path, std::string& library) {
  if (word == "mimalloc") {
    library = tools::own_library("libclump_malloc.so");
    if (library.empty())
      return base::fail(MPI_ERR_ARG,
                        "--malloc mimalloc: this Clump was built without it, as libmimalloc-dev was not "
                        "installed, or is mimalloc 3; give the path of a library instead");
    return {};
  }
  const auto known =
      std::ranges::find(kLibraries, word, &std::pair<std::string_view, std::string_view>::first);
  const bool is_path = word.find('/') != std::string::npos;
  if (!is_path && known == kLibraries.end() && word.find(".so") == std::string::npos)
    return base::fail(
        MPI_ERR_ARG,
        "--malloc {}: there is libc, mimalloc, jemalloc, tcmalloc, snmalloc, tbbmalloc and hoard; "
        "or give the name (lib*.so) or the path of a library",
        word);
  const std::string name = is_path                     ? tools::absolute(word, tools::current_directory())
                           : known != kLibraries.end() ? std::string(known->second)
                                                       : word;
  library = image::find_library(name, {}, {}, library_path);
  if (library.empty())
    return base::fail(MPI_ERR_ARG, "--malloc {}: {} was not found{}", word, name,
                      is_path ? "" : " (LD_LIBRARY_PATH, /etc/ld.so.conf): install it, or give its path");
  if (!image::defines_malloc(image::ElfFile(library)))
    return base::fail(MPI_ERR_ARG, "--malloc {}: {} defines no malloc() and free()", word, library);
  return {};
}

}  // namespace

void AllocatorNeeds::note(const image::Verdict& verdict, const pmi::App& app) {
  is_sanitized |= !verdict.sanitizers.empty();
  if (brought.empty())
    brought = image::allocator_among(value_of(app.environment, "LD_PRELOAD"),
                                     value_of(app.environment, "LD_LIBRARY_PATH"));
  if (brought.empty()) brought = verdict.allocator;
  if (only_libc.empty() && !verdict.malloc_function.empty())
    only_libc = fmt::format("{} calls {}()", verdict.malloc_function_in, verdict.malloc_function);
  if (std::string setting = setting_of_libc(app); only_libc.empty() && !setting.empty())
    only_libc = fmt::format("{} is set", setting);
  const std::string checks = value_of(app.environment, kCheckVariable);
  if (only_libc.empty() && !checks.empty() && checks != "off")
    only_libc = "it tells of what is freed twice, as --check is to tell of errors";
}

base::Status choose_allocator(const pmi::Job& job, const AllocatorNeeds& needs, long mappings,
                              Allocator& chosen) {
  const std::string asked = asked_for(job);
  if (!asked.empty() && asked != "auto" && asked != "libc") {
    if (needs.is_sanitized)
      return base::fail(MPI_ERR_ARG, "--malloc {}: the program is built with a sanitizer, which has its own",
                        asked);
    const std::string library_path = value_of(job.apps.front().environment, "LD_LIBRARY_PATH");
    CLUMP_TRY(find_allocator(asked, library_path, chosen.library));
    chosen.plain_library = chosen.library;
    chosen.note = fmt::format("malloc is that of {}, as --malloc asks", chosen.library);
    return {};
  }
  if (std::ranges::all_of(job.processes, &pmi::HostProcess::plain)) return {};
  std::string why;
  if (needs.is_sanitized) {
    chosen.note = "malloc is the sanitizer's";
  } else if (!needs.brought.empty()) {
    chosen.note = fmt::format("malloc is that of {}, which the program brings", needs.brought);
  } else if (asked == "libc") {
    why = "as --malloc asks";
  } else if (!needs.only_libc.empty()) {
    why = needs.only_libc;
  } else if (why = limit_of_address_space(job.ranks(job.this_node()), mappings); why.empty()) {
    chosen.library = tools::own_library("libclump_malloc.so");
    if (chosen.library.empty()) why = "this Clump was built without mimalloc";
  }
  if (!why.empty()) chosen.note = fmt::format("malloc is the C library's: {}", why);
  if (!chosen.library.empty()) chosen.note = "malloc is mimalloc's; --malloc libc has the C library's";
  return {};
}

}  // namespace clump::mpiexec
