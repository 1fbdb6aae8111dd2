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

constexpr std::string_view kPlaceInList = "steps through a list at a place that the process has once";
constexpr std::string_view kOneResult = "has its result or its settings in memory that the process has once";
constexpr std::string_view kProfile = "profiles the process (gcc -pg): gmon.out";
constexpr std::string_view kWatchedMemory = "has the C library watch the memory of the process";

/// By function. Add a row for what is rare and cannot be given to each rank at a reasonable cost.
constexpr Row kProcessOnly[] = {
    {"addseverity", kOneResult},
    {"capset", "changes the capabilities of the thread that runs it"},
    {"chroot", "changes the root directory of the process"},
    {"close_range", "closes descriptors that it has not opened"},
    {"closefrom", "closes descriptors that it has not opened"},
    {"endaliasent", kPlaceInList},
    {"endfsent", kPlaceInList},
    {"endhostent", kPlaceInList},
    {"endnetent", kPlaceInList},
    {"endnetgrent", kPlaceInList},
    {"endprotoent", kPlaceInList},
    {"endservent", kPlaceInList},
    {"endspent", kPlaceInList},
    {"endttyent", kPlaceInList},
    {"endusershell", kPlaceInList},
    {"endutent", kPlaceInList},
    {"endutxent", kPlaceInList},
    {"__fentry__", kProfile},
    {"flockfile", "holds a lock of the C library that ranks of a process share"},
    {"fmtmsg", kOneResult},
    {"ftrylockfile", "holds a lock of the C library that ranks of a process share"},
    {"getaliasent", kPlaceInList},
    {"getaliasent_r", kPlaceInList},
    {"getdate", kOneResult},
    {"getfsent", kPlaceInList},
    {"getfsfile", kPlaceInList},
    {"getfsspec", kPlaceInList},
    {"gethostent", kPlaceInList},
    {"gethostent_r", kPlaceInList},
    {"getnetent", kPlaceInList},
    {"getnetent_r", kPlaceInList},
    {"getnetgrent", kPlaceInList},
    {"getnetgrent_r", kPlaceInList},
    {"getpass", kOneResult},
    {"getprotoent", kPlaceInList},
    {"getprotoent_r", kPlaceInList},
    {"getservent", kPlaceInList},
    {"getservent_r", kPlaceInList},
    {"getspent", kPlaceInList},
    {"getspent_r", kPlaceInList},
    {"getttyent", kPlaceInList},
    {"getttynam", kPlaceInList},
    {"getusershell", kPlaceInList},
    {"getutent", kPlaceInList},
    {"getutent_r", kPlaceInList},
    {"getutid", kPlaceInList},
    {"getutid_r", kPlaceInList},
    {"getutline", kPlaceInList},
    {"getutline_r", kPlaceInList},
    {"getutxent", kPlaceInList},
    {"getutxid", kPlaceInList},
    {"getutxline", kPlaceInList},
    {"mcheck", kWatchedMemory},
    {"mcheck_check_all", kWatchedMemory},
    {"mcheck_pedantic", kWatchedMemory},
    {"_mcount", kProfile},
    {"mcount", kProfile},
    {"mdb_env_open", "opens a database of LMDB, which keeps its readers by process"},
    {"__moncontrol", kProfile},
    {"moncontrol", kProfile},
    {"__monstartup", kProfile},
    {"monstartup", kProfile},
    {"mprobe", kWatchedMemory},
    {"mtrace", kWatchedMemory},
    {"muntrace", kWatchedMemory},
    {"nice", "changes the priority of the thread that runs it, which cannot be taken back"},
    {"__profil", kProfile},
    {"profil", kProfile},
    {"pthread_setschedprio", "changes how the kernel schedules the thread that runs it"},
    {"pututline", kPlaceInList},
    {"pututxline", kPlaceInList},
    {"rcmd", kOneResult},
    {"rcmd_af", kOneResult},
    {"re_comp", kOneResult},
    {"re_exec", kOneResult},
    {"sched_setparam", "changes how the kernel schedules the thread that runs it"},
    {"sched_setscheduler", "changes how the kernel schedules the thread that runs it"},
    {"setaliasent", kPlaceInList},
    {"setegid", "changes the group of the process"},
    {"seteuid", "changes the user of the process"},
    {"setfsent", kPlaceInList},
    {"setfsgid", "changes the group of the thread that runs it"},
    {"setfsuid", "changes the user of the thread that runs it"},
    {"setgid", "changes the group of the process"},
    {"setgroups", "changes the groups of the process"},
    {"sethostent", kPlaceInList},
    {"setnetent", kPlaceInList},
    {"setnetgrent", kPlaceInList},
    {"setns", "changes the namespaces of the process"},
    {"setpriority", "changes the priority of the thread that runs it, which cannot be taken back"},
    {"setprotoent", kPlaceInList},
    {"setregid", "changes the group of the process"},
    {"setresgid", "changes the group of the process"},
    {"setresuid", "changes the user of the process"},
    {"setreuid", "changes the user of the process"},
    {"setservent", kPlaceInList},
    {"setspent", kPlaceInList},
    {"setttyent", kPlaceInList},
    {"setuid", "changes the user of the process"},
    {"setusershell", kPlaceInList},
    {"setutent", kPlaceInList},
    {"setutxent", kPlaceInList},
    {"signalfd", "takes signals of the process by descriptor"},
    {"sprofil", kProfile},
    {"tmpnam", kOneResult},
    {"unshare", "changes the namespaces of the process"},
    {"utmpname", kPlaceInList},
    {"utmpxname", kPlaceInList},
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
