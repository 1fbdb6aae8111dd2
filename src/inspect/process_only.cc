#include "inspect/process_only.h"

#include <algorithm>
#include <cstdint>

#include "inspect/elf_file.h"

namespace clump::image {
namespace {

/// Which importers of a function count. Some functions are imported by widely used libraries that hardly ever
/// call them: then the call itself is refused (refused.cc).
enum class Importer : std::uint8_t { kAny, kProgram };

struct Row {
  std::string_view function;
  std::string_view reason;
  Importer importer = Importer::kAny;
};

constexpr std::string_view kPlaceInList = "steps through a list at a place that the process has once";
constexpr std::string_view kOneResult = "has its result or its settings in memory that the process has once";
constexpr std::string_view kProfile = "profiles the process (gcc -pg): gmon.out";
constexpr std::string_view kQueue = "is told of the end of input and output by what the process has once";
constexpr std::string_view kEnvironment = "looks at the environment of the process";
constexpr std::string_view kHeapEnd = "moves the end of the heap of the process";
constexpr std::string_view kUndo = "may have the kernel undo it, which it does when the process ends";
constexpr std::string_view kStdin = "reads the stdin that the process has once";
constexpr std::string_view kWatchedMemory = "has the C library watch the memory of the process";

/// In the order of the characters' codes. A new row is for a function that is rarely used and cannot be given
/// to each rank at a reasonable cost.
constexpr Row kProcessOnly[] = {
    {"__fentry__", kProfile},
    {"__gets_chk", kStdin},
    {"__moncontrol", kProfile},
    {"__monstartup", kProfile},
    {"__profil", kProfile},
    {"_mcount", kProfile},
    {"addseverity", kOneResult},
    {"aio_fsync", kQueue},
    {"aio_fsync64", kQueue},
    {"aio_read", kQueue},
    {"aio_read64", kQueue},
    {"aio_write", kQueue},
    {"aio_write64", kQueue},
    {"arch_prctl", "changes registers of the thread that runs it"},
    {"brk", kHeapEnd, Importer::kProgram},
    {"capset", "changes the capabilities of the thread that runs it"},
    {"chroot", "changes the root directory of the process"},
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
    {"gets", kStdin},
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
    {"inet_nsap_ntoa", kOneResult},
    {"lio_listio", kQueue},
    {"lio_listio64", kQueue},
    {"mcheck", kWatchedMemory},
    {"mcheck_check_all", kWatchedMemory},
    {"mcheck_pedantic", kWatchedMemory},
    {"mcount", kProfile},
    {"mdb_env_open", "opens a database of LMDB, which keeps its readers by process"},
    {"moncontrol", kProfile},
    {"monstartup", kProfile},
    {"mprobe", kWatchedMemory},
    {"mq_notify", "is told of messages by a signal of the process"},
    {"mtrace", kWatchedMemory},
    {"muntrace", kWatchedMemory},
    {"nice", "changes the priority of the thread that runs it, which cannot be taken back",
     Importer::kProgram},
    {"pkey_alloc", "protects memory from the thread that runs it"},
    {"profil", kProfile},
    {"pthread_mutexattr_setrobust", "tells of the end of a thread, and that of a rank need not be one"},
    {"pthread_mutexattr_setrobust_np", "tells of the end of a thread, and that of a rank need not be one"},
    {"pthread_setattr_default_np", "changes all threads that the process makes"},
    {"pthread_setschedprio", "changes how the kernel schedules the thread that runs it"},
    {"ptrace", "makes the thread that runs it a tracer", Importer::kProgram},
    {"pututline", kPlaceInList},
    {"pututxline", kPlaceInList},
    {"rcmd", kOneResult},
    {"rcmd_af", kOneResult},
    {"re_comp", kOneResult},
    {"re_exec", kOneResult},
    {"re_set_syntax", kOneResult},
    {"sbrk", kHeapEnd, Importer::kProgram},
    {"sched_setparam", "changes how the kernel schedules the thread that runs it"},
    {"sched_setscheduler", "changes how the kernel schedules the thread that runs it"},
    {"semop", kUndo, Importer::kProgram},
    {"semtimedop", kUndo, Importer::kProgram},
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
    {"tempnam", kEnvironment},
    {"tmpnam", kOneResult},
    {"ulimit", "sets a limit of the process"},
    {"unshare", "changes the namespaces of the process"},
    {"utmpname", kPlaceInList},
    {"utmpxname", kPlaceInList},
    {"wordexp", kEnvironment},
};
static_assert(std::ranges::is_sorted(kProcessOnly, {}, &Row::function));

}  // namespace

std::string_view reason_for_processes(std::string_view function, bool of_program) {
  const auto* row = std::ranges::lower_bound(kProcessOnly, function, {}, &Row::function);
  if (row == std::end(kProcessOnly) || row->function != function) return {};
  return of_program || row->importer == Importer::kAny ? row->reason : std::string_view();
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
