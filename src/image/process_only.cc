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
    {"addseverity", "has its result or its settings in memory that the process has once"},
    {"chroot", "changes the root directory of the process"},
    {"endaliasent", "steps through a list at a place that the process has once"},
    {"endfsent", "steps through a list at a place that the process has once"},
    {"endhostent", "steps through a list at a place that the process has once"},
    {"endnetent", "steps through a list at a place that the process has once"},
    {"endnetgrent", "steps through a list at a place that the process has once"},
    {"endprotoent", "steps through a list at a place that the process has once"},
    {"endservent", "steps through a list at a place that the process has once"},
    {"endspent", "steps through a list at a place that the process has once"},
    {"endttyent", "steps through a list at a place that the process has once"},
    {"endusershell", "steps through a list at a place that the process has once"},
    {"endutent", "steps through a list at a place that the process has once"},
    {"endutxent", "steps through a list at a place that the process has once"},
    {"__fentry__", "profiles the process (gcc -pg): gmon.out"},
    {"fmtmsg", "has its result or its settings in memory that the process has once"},
    {"getaliasent", "steps through a list at a place that the process has once"},
    {"getaliasent_r", "steps through a list at a place that the process has once"},
    {"getdate", "has its result or its settings in memory that the process has once"},
    {"getfsent", "steps through a list at a place that the process has once"},
    {"getfsfile", "steps through a list at a place that the process has once"},
    {"getfsspec", "steps through a list at a place that the process has once"},
    {"gethostent", "steps through a list at a place that the process has once"},
    {"gethostent_r", "steps through a list at a place that the process has once"},
    {"getnetent", "steps through a list at a place that the process has once"},
    {"getnetent_r", "steps through a list at a place that the process has once"},
    {"getnetgrent", "steps through a list at a place that the process has once"},
    {"getnetgrent_r", "steps through a list at a place that the process has once"},
    {"getpass", "has its result or its settings in memory that the process has once"},
    {"getprotoent", "steps through a list at a place that the process has once"},
    {"getprotoent_r", "steps through a list at a place that the process has once"},
    {"getservent", "steps through a list at a place that the process has once"},
    {"getservent_r", "steps through a list at a place that the process has once"},
    {"getspent", "steps through a list at a place that the process has once"},
    {"getspent_r", "steps through a list at a place that the process has once"},
    {"getttyent", "steps through a list at a place that the process has once"},
    {"getttynam", "steps through a list at a place that the process has once"},
    {"getusershell", "steps through a list at a place that the process has once"},
    {"getutent", "steps through a list at a place that the process has once"},
    {"getutent_r", "steps through a list at a place that the process has once"},
    {"getutid", "steps through a list at a place that the process has once"},
    {"getutid_r", "steps through a list at a place that the process has once"},
    {"getutline", "steps through a list at a place that the process has once"},
    {"getutline_r", "steps through a list at a place that the process has once"},
    {"getutxent", "steps through a list at a place that the process has once"},
    {"getutxid", "steps through a list at a place that the process has once"},
    {"getutxline", "steps through a list at a place that the process has once"},
    {"mcheck", "has the C library watch the memory of the process"},
    {"mcheck_check_all", "has the C library watch the memory of the process"},
    {"mcheck_pedantic", "has the C library watch the memory of the process"},
    {"mcount", "profiles the process (gcc -pg): gmon.out"},
    {"_mcount", "profiles the process (gcc -pg): gmon.out"},
    {"__moncontrol", "profiles the process (gcc -pg): gmon.out"},
    {"moncontrol", "profiles the process (gcc -pg): gmon.out"},
    {"__monstartup", "profiles the process (gcc -pg): gmon.out"},
    {"monstartup", "profiles the process (gcc -pg): gmon.out"},
    {"mprobe", "has the C library watch the memory of the process"},
    {"mtrace", "has the C library watch the memory of the process"},
    {"muntrace", "has the C library watch the memory of the process"},
    {"profil", "profiles the process (gcc -pg): gmon.out"},
    {"__profil", "profiles the process (gcc -pg): gmon.out"},
    {"pututline", "steps through a list at a place that the process has once"},
    {"pututxline", "steps through a list at a place that the process has once"},
    {"rcmd", "has its result or its settings in memory that the process has once"},
    {"rcmd_af", "has its result or its settings in memory that the process has once"},
    {"re_comp", "has its result or its settings in memory that the process has once"},
    {"re_exec", "has its result or its settings in memory that the process has once"},
    {"setaliasent", "steps through a list at a place that the process has once"},
    {"setegid", "changes the group of the process"},
    {"seteuid", "changes the user of the process"},
    {"setfsent", "steps through a list at a place that the process has once"},
    {"setgid", "changes the group of the process"},
    {"setgroups", "changes the groups of the process"},
    {"sethostent", "steps through a list at a place that the process has once"},
    {"setnetent", "steps through a list at a place that the process has once"},
    {"setnetgrent", "steps through a list at a place that the process has once"},
    {"setns", "changes the namespaces of the process"},
    {"setprotoent", "steps through a list at a place that the process has once"},
    {"setregid", "changes the group of the process"},
    {"setresgid", "changes the group of the process"},
    {"setresuid", "changes the user of the process"},
    {"setreuid", "changes the user of the process"},
    {"setservent", "steps through a list at a place that the process has once"},
    {"setspent", "steps through a list at a place that the process has once"},
    {"setttyent", "steps through a list at a place that the process has once"},
    {"setuid", "changes the user of the process"},
    {"setusershell", "steps through a list at a place that the process has once"},
    {"setutent", "steps through a list at a place that the process has once"},
    {"setutxent", "steps through a list at a place that the process has once"},
    {"sprofil", "profiles the process (gcc -pg): gmon.out"},
    {"tmpnam", "has its result or its settings in memory that the process has once"},
    {"unshare", "changes the namespaces of the process"},
    {"utmpname", "steps through a list at a place that the process has once"},
    {"utmpxname", "steps through a list at a place that the process has once"},
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
