#include "inspect/process_only.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "inspect/elf_file.h"

namespace clump::image {
namespace {

/// Libraries import much that they hardly ever call, so the rule is that the program's own imports make
/// processes of the ranks: a call from a library is refused when it is made (image/doors.h, and refused.cc
/// where it depends on the arguments).
struct Group {
  std::string_view guide;  ///< what docs/guide/private.md calls it: a test looks
  std::string_view reason;
  std::string_view functions;
  std::string_view libraries;  ///< why a library's import counts as well; empty: it does not
};

/// A new row is for functions that are rarely used and cannot be given to each rank at a reasonable cost.
/// docs/site/reference.py writes the table for users (docs/reference/processes.md).
constexpr Group kProcessOnly[] = {
    {"LMDB", "opens a database of LMDB, which keeps its readers by process", "mdb_env_open",
     "a library that names it opens databases"},
    {"`SEM_UNDO` of System V semaphores", "may have the kernel undo it, which it does when the process ends",
     "semop semtimedop"},
    {"`aio_*`", "is told of the end of input and output by what the process has once",
     "aio_fsync aio_fsync64 aio_read aio_read64 aio_write aio_write64 lio_listio lio_listio64"},
    {"`arch_prctl`", "changes registers of the thread that runs it", "arch_prctl"},
    {"`getdate`, `fmtmsg`, `re_set_syntax`",
     "has its result or its settings in memory that the process has once",
     "addseverity fmtmsg getdate getpass inet_nsap_ntoa rcmd rcmd_af re_comp re_exec re_set_syntax"},
    {"`gets`", "reads the stdin that the process has once", "__gets_chk gets"},
    {"`mq_notify`", "is told of messages by a signal of the process", "mq_notify"},
    {"`pthread_setattr_default_np`", "changes all threads that the process makes",
     "pthread_setattr_default_np"},
    {"`ptrace`", "makes the thread that runs it a tracer", "ptrace"},
    {"`signalfd`", "takes signals of the process by descriptor", "signalfd"},
    {"`ulimit`", "sets a limit of the process", "ulimit"},
    {"`tmpnam`", "has its result in memory that the process has once", "tmpnam"},
    {"`wordexp`, `tempnam`", "looks at the environment of the process", "tempnam wordexp",
     "a library that names one of them calls it in its work"},
    {"capabilities", "changes the capabilities of the thread that runs it", "capset"},
    {"gprof (`-pg`)", "profiles the process (gcc -pg): gmon.out",
     "__fentry__ __moncontrol __monstartup __profil _mcount mcount moncontrol monstartup profil sprofil",
     "each function of a library that is compiled so calls it"},
    {"lists that are walked", "steps through a list at a place that the process has once",
     "endaliasent endfsent endhostent endnetent endnetgrent endprotoent endservent endspent endttyent "
     "endusershell endutent endutxent getaliasent getaliasent_r getfsent getfsfile getfsspec gethostent "
     "gethostent_r getnetent getnetent_r getnetgrent getnetgrent_r getprotoent getprotoent_r getservent "
     "getservent_r getspent getspent_r getttyent getttynam getusershell getutent getutent_r getutid "
     "getutid_r getutline getutline_r getutxent getutxid getutxline login logout pututline pututxline "
     "setaliasent setfsent sethostent setnetent setnetgrent setprotoent setservent setspent setttyent "
     "setusershell setutent setutxent ttyslot utmpname utmpxname"},
    {"namespaces", "changes the namespaces of the process", "setns unshare"},
    {"priority and scheduling class", "changes how the kernel schedules the thread that runs it",
     "pthread_setschedprio sched_setparam sched_setscheduler"},
    {"priority and scheduling class", "changes the priority of the thread that runs it for good",
     "nice setpriority"},
    {"protection keys", "protects memory from the thread that runs it", "pkey_alloc"},
    {"robust mutexes", "tells of the end of a thread, and that of a rank need not be one",
     "pthread_mutexattr_setrobust pthread_mutexattr_setrobust_np"},
    {"root directory", "changes the root directory of the process", "chroot"},
    {"the end of the heap (`sbrk`, `brk`)", "moves the end of the heap of the process", "brk sbrk"},
    {"user and group", "changes the group of the process", "setegid setgid setregid setresgid"},
    {"user and group", "changes the group of the thread that runs it", "setfsgid"},
    {"user and group", "changes the groups of the process", "setgroups"},
    {"user and group", "changes the user of the process", "seteuid setresuid setreuid setuid"},
    {"user and group", "changes the user of the thread that runs it", "setfsuid"},
};

struct Row {
  std::string_view function;
  const Group* group = nullptr;
};

constexpr std::size_t kFunctions = [] {
  std::size_t count = 0;
  for (const Group& group : kProcessOnly)
    for (const char letter : group.functions) count += letter == ' ' ? 1 : 0;
  return count + std::size(kProcessOnly);
}();

/// All functions, in the order of the characters' codes.
constexpr auto kRows = [] {
  std::array<Row, kFunctions> rows;
  std::size_t count = 0;
  for (const Group& group : kProcessOnly) {
    for (std::string_view rest = group.functions; !rest.empty();) {
      const std::size_t end = std::min(rest.find(' '), rest.size());
      rows[count++] = {rest.substr(0, end), &group};
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  std::ranges::sort(rows, {}, &Row::function);
  return rows;
}();

}  // namespace

std::string_view reason_for_processes(std::string_view function, bool of_program) {
  if (function.starts_with("_Z")) return {};  // C++'s, of which large libraries have 100,000
  const auto* row = std::ranges::lower_bound(kRows, function, {}, &Row::function);
  if (row == kRows.end() || row->function != function) return {};
  return of_program || !row->group->libraries.empty() ? row->group->reason : std::string_view();
}

void ImportedNeed::see(std::string_view function) {
  if (function == "swapcontext" || function == "setcontext") switches_ = function;
  if (function == "sigprocmask" || function == "pthread_sigmask") changes_masks_ = true;
  if (!function_.empty()) return;
  std::string_view why = reason_for_processes(function, of_program_);
  if (why.empty() && function.starts_with("io_uring_"))
    why = "has the kernel open, use and close descriptors past what is the rank's";
  if (!why.empty()) {
    function_ = function;
    reason_ = why;
  } else if (!switches_.empty() && changes_masks_) {
    function_ = switches_;
    reason_ = "gives back signal masks to the kernel thread that runs it, while the file changes the rank's";
  }
}

bool find_import(const ElfFile& file, const std::function<bool(std::string_view)>& is_wanted) {
  const auto is_it = [&](const ElfW(Rela) & relocation) {
    const std::uint32_t symbol = ELF64_R_SYM(relocation.r_info);
    const std::string_view name = symbol != 0 ? file.undefined_symbol(symbol) : std::string_view();
    return !name.empty() && is_wanted(name);
  };
  return std::ranges::any_of(file.relocations(DT_JMPREL, DT_PLTRELSZ), is_it) ||
         std::ranges::any_of(file.relocations(DT_RELA, DT_RELASZ), is_it);
}

}  // namespace clump::image
