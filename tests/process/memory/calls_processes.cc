// Processes: their environment, what is loaded, children, and the end.
#include <dlfcn.h>
#include <execinfo.h>
#include <getopt.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "calls.h"

extern "C" {
int on_exit(void (*)(int, void*), void*);
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
int __register_atfork(void (*)(), void (*)(), void (*)(), void*);
int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
int __posix_getopt(int, char* const*, const char*);
pid_t __waitpid(pid_t, int*, int);
pid_t __getpid();
long __fdelt_chk(long);
}

namespace calls {
namespace {

char name[] = "program";
char entry[] = "CALLING_ALLOCATOR=1";
char* arguments[] = {name, nullptr};
char* no_environment[] = {nullptr};
const option no_options[] = {{nullptr, 0, nullptr, 0}};
Dl_info symbol;
void* extra;
dl_find_object object;
rlimit limit;
rusage used;
tms used_time;
timespec time_used;
timespec no_time;
sembuf no_operation;
siginfo_t info;
clockid_t processor_clock;
int status;

int stop_at_first(dl_phdr_info*, size_t, void*) { return 1; }
void nothing(void*) {}
void nothing_with_status(int, void*) {}

const Row kRows[] = {
    // Environment and arguments.
    {"getenv", [] { getenv("CALLING_ALLOCATOR"); }},
    {"secure_getenv", [] { secure_getenv("CALLING_ALLOCATOR"); }},
    {"setenv", [] { setenv("CALLING_ALLOCATOR", "1", 1); }},
    {"putenv", [] { putenv(entry); }},
    {"unsetenv", [] { unsetenv("CALLING_ALLOCATOR"); }},
    {"clearenv", nullptr, "would take the job's description away"},
    {"getauxval", [] { getauxval(AT_PAGESZ); }},
    {"getopt", [] { getopt(1, arguments, "a"); }},
    {"__posix_getopt", [] { __posix_getopt(1, arguments, "a"); }},
    {"getopt_long", [] { getopt_long(1, arguments, "a", no_options, nullptr); }},
    {"getopt_long_only", [] { getopt_long_only(1, arguments, "a", no_options, nullptr); }},
    // What is loaded.
    {"dlsym", [] { dlsym(RTLD_NEXT, "malloc"), dlsym(RTLD_DEFAULT, "malloc"); }},
    {"dlvsym", [] { dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5"); }},
    {"dladdr", [] { dladdr(name, &symbol); }},
    {"dladdr1", [] { dladdr1(name, &symbol, &extra, RTLD_DL_LINKMAP); }},
    {"dlerror", [] { dlerror(); }},
    {"dl_iterate_phdr", [] { dl_iterate_phdr(stop_at_first, nullptr); }},
    {"_dl_find_object", [] { _dl_find_object(name, &object); }},
    {"dlopen", nullptr, "allocates in ld.so"},
    {"dlmopen", nullptr, "allocates in ld.so"},
    {"dlclose", nullptr, "allocates in ld.so"},
    {"dlinfo", nullptr, "needs a handle"},
    // Numbers of processes.
    {"getpid", [] { getpid(); }},
    {"__getpid", [] { __getpid(); }},
    {"getppid", [] { getppid(); }},
    {"setpgid", [] { setpgid(-1, 0); }},
    {"clock_getcpuclockid", [] { clock_getcpuclockid(0, &processor_clock); }},
    {"pidfd_open", nullptr, kNew},
    // Limits and use.
    {"getrlimit", [] { getrlimit(RLIMIT_NOFILE, &limit); }},
    {"setrlimit", [] { getrlimit(RLIMIT_CORE, &limit), setrlimit(RLIMIT_CORE, &limit); }},
    {"prlimit", [] { prlimit(0, RLIMIT_NOFILE, nullptr, &limit); }},
    {"getrusage", [] { getrusage(RUSAGE_CHILDREN, &used); }},
    {"times", [] { times(&used_time); }},
    {"nice", [] { static_cast<void>(nice(0)); }},
    {"personality", [] { personality(0xffffffff); }},
    {"syscall", [] { syscall(SYS_getpid); }},
    {"clock", [] { (void)!clock(); }},
    {"clock_gettime", [] { clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time_used); }},
    // Memory at addresses.
    {"munmap", [] { munmap(nullptr, 0); }},
    {"mremap", [] { (void)!mremap(nullptr, 0, 0, 0); }},
    {"brk", nullptr, "moves the end of the heap"},
    {"sbrk", [] { (void)!sbrk(0); }},
    // Semaphores, tracing, descriptors of select().
    {"semop", [] { semop(kNone, &no_operation, 1); }},
    {"semtimedop", [] { semtimedop(kNone, &no_operation, 1, &no_time); }},
    {"ptrace", [] { ptrace(PTRACE_PEEKDATA, 0, nullptr, nullptr); }},
    {"__fdelt_chk", [] { (void)!__fdelt_chk(0); }},
    // Names and walks.
    {"backtrace_symbols", nullptr, "allocates"},
    {"backtrace_symbols_fd", [] { backtrace_symbols_fd(&extra, 0, kNone); }},
    {"herror", nullptr, kFile},
    {"glob", nullptr, "allocates"},
    {"nftw", nullptr, "allocates"},
    {"fts_read", nullptr, "needs a walk, whose making allocates"},
    {"fts_close", nullptr, "needs a walk, whose making allocates"},
    // Children.
    {"system", [] { (void)!system(nullptr); }},
    {"waitpid", [] { waitpid(-1, &status, WNOHANG); }},
    {"__waitpid", [] { __waitpid(-1, &status, WNOHANG); }},
    {"wait3", [] { wait3(&status, WNOHANG, &used); }},
    {"wait4", [] { wait4(-1, &status, WNOHANG, &used); }},
    {"waitid", [] { waitid(P_ALL, 0, &info, WEXITED | WNOHANG); }},
    {"wait", nullptr, kWaits},
    {"__wait", nullptr, kWaits},
    {"popen", nullptr, kStarts},
    {"pclose", nullptr, kFile},
    {"posix_spawn", nullptr, kStarts},
    {"posix_spawnp", nullptr, kStarts},
    {"fork", nullptr, kStarts},
    {"_Fork", nullptr, kStarts},
    {"vfork", nullptr, kStarts},
    {"__vfork", nullptr, kStarts},
    {"clone", nullptr, kStarts},
    {"forkpty", nullptr, kStarts},
    {"daemon", nullptr, kStarts},
    // The end.
    {"execl", [] { execl(kNoFile, name, nullptr); }},
    {"execle", [] { execle(kNoFile, name, nullptr, no_environment); }},
    {"execlp", [] { execlp(kNoFile, name, nullptr); }},
    {"execv", [] { execv(kNoFile, arguments); }},
    {"execve", [] { execve(kNoFile, arguments, no_environment); }},
    {"execveat", [] { execveat(kNone, kNoFile, arguments, no_environment, 0); }},
    {"execvp", [] { execvp(kNoFile, arguments); }},
    {"execvpe", [] { execvpe(kNoFile, arguments, no_environment); }},
    {"fexecve", [] { fexecve(kNone, arguments, no_environment); }},
    {"__register_atfork", [] { __register_atfork(nullptr, nullptr, nullptr, nullptr); }},
    {"__cxa_atexit", [] { __cxa_atexit(nothing, nullptr, nullptr); }},
    {"__cxa_at_quick_exit", [] { __cxa_at_quick_exit(nothing, nullptr); }},
    {"__cxa_thread_atexit_impl", [] { __cxa_thread_atexit_impl(nothing, nullptr, name); }},
    {"on_exit", [] { on_exit(nothing_with_status, nullptr); }},
    {"__cxa_finalize", nullptr, "would run destructors"},
    {"exit", nullptr, kEnds},
    {"quick_exit", nullptr, kEnds},
    {"_exit", nullptr, kEnds},
    {"_Exit", nullptr, kEnds},
    {"__libc_start_main", nullptr, kEnds},
    // Memory: called by whoever allocates.
    {"calloc", nullptr, "is the allocator's"},
};

}  // namespace

std::span<const Row> of_processes() { return kRows; }

}  // namespace calls
