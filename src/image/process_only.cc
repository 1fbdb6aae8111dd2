#include "image/process_only.h"

#include <algorithm>
#include <cstdint>

#include "image/elf_file.h"

namespace clump::image {
namespace {

struct Row {
  std::string_view function;
  std::string_view reason;
};

/// By function. Add a row for what is rare and cannot be given to each rank at a reasonable cost.
constexpr Row kProcessOnly[] = {
    {"capset", "changes the capabilities of the thread that runs it"},
    {"chroot", "changes the root directory of the process"},
    {"flockfile", "holds a lock of the C library that ranks of a process share"},
    {"ftrylockfile", "holds a lock of the C library that ranks of a process share"},
    {"nice", "changes the priority of the thread that runs it, which cannot be taken back"},
    {"pthread_setschedprio", "changes how the kernel schedules the thread that runs it"},
    {"sched_setparam", "changes how the kernel schedules the thread that runs it"},
    {"sched_setscheduler", "changes how the kernel schedules the thread that runs it"},
    {"setegid", "changes the group of the process"},
    {"close_range", "closes descriptors that it has not opened"},
    {"closefrom", "closes descriptors that it has not opened"},
    {"mdb_env_open", "opens a database of LMDB, which keeps its readers by process"},
    {"seteuid", "changes the user of the process"},
    {"setfsgid", "changes the group of the thread that runs it"},
    {"setfsuid", "changes the user of the thread that runs it"},
    {"setgid", "changes the group of the process"},
    {"setgroups", "changes the groups of the process"},
    {"setns", "changes the namespaces of the process"},
    {"setpriority", "changes the priority of the thread that runs it, which cannot be taken back"},
    {"setregid", "changes the group of the process"},
    {"setresgid", "changes the group of the process"},
    {"setresuid", "changes the user of the process"},
    {"setreuid", "changes the user of the process"},
    {"setuid", "changes the user of the process"},
    {"signalfd", "takes signals of the process by descriptor"},
    {"unshare", "changes the namespaces of the process"},
};

void add_names(const ElfFile& file, ElfW(Sxword) table, ElfW(Sxword) bytes, std::vector<std::string>& names) {
  for (const ElfW(Rela) & relocation : file.relocations(table, bytes)) {
    const std::uint32_t symbol = ELF64_R_SYM(relocation.r_info);
    if (symbol == 0) continue;
    std::string name = file.undefined_symbol(symbol);
    if (!name.empty()) names.push_back(std::move(name));
  }
}

}  // namespace

std::string_view reason_for_processes(std::string_view function) {
  const auto* row = std::ranges::find(kProcessOnly, function, &Row::function);
  return row != std::end(kProcessOnly) ? row->reason : std::string_view();
}

std::vector<std::string> imports_of(const ElfFile& file) {
  std::vector<std::string> names;
  add_names(file, DT_RELA, DT_RELASZ, names);
  add_names(file, DT_JMPREL, DT_PLTRELSZ, names);
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace clump::image
