// An allocator whose start-up calls every function of the C library that libclump_host.so stands in for: the
// first malloc() of the process, which comes before any constructor, runs the table below. jemalloc, tcmalloc
// and mimalloc read /proc, look symbols up, ask for cores and make threads there. No such function may come
// back to malloc() by itself: what the C library allocates is its own affair.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <getopt.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <threads.h>
#include <unistd.h>
#include <wchar.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

extern "C" {
int on_exit(void (*)(int, void*), void*);
int __cxa_atexit(void (*)(void*), void*, void*);
int __cxa_at_quick_exit(void (*)(void*), void*);
int __cxa_thread_atexit_impl(void (*)(void*), void*, void*);
int __posix_getopt(int, char* const*, const char*);
void __longjmp_chk(__jmp_buf_tag*, int) __attribute__((noreturn));
}

namespace {

// ------------------------------------------------------------------------------------------------------------
// what is called, and how

using Call = void (*)();

struct Row {
  const char* name;
  Call call;        ///< null: it is not called
  const char* why;  ///< it is not
};

constexpr const char* kEnds = "ends or replaces the process";
constexpr const char* kReads = "takes standard input";
constexpr const char* kStarts = "starts a process";
constexpr const char* kWaits = "waits";
constexpr const char* kFile = "needs a stream, whose making allocates";
constexpr const char* kSame = "is another name of one that is called";

char words[128];
char text[] = "a b";
char name[] = "program";
char entry[] = "CALLING_ALLOCATOR=1";
char* arguments[] = {name, nullptr};
const option no_options[] = {{nullptr, 0, nullptr, 0}};
unsigned short numbers[7] = {1, 2, 3, 4, 5, 6, 7};
timespec moment{0, 1};
time_t when = 0;
tm broken_down;
jmp_buf place;
sigjmp_buf signal_place;

void* end_at_once(void*) { return nullptr; }
int end_at_once_too(void*) { return 0; }
int stop_at_first(dl_phdr_info*, size_t, void*) { return 1; }
void nothing(void*) {}
void nothing_with_status(int, void*) {}

const Row kRows[] = {
    // Files.
    {"read",
     [] {
       char c;
       (void)!read(-1, &c, 0);
     },
     nullptr},
    {"write", [] { (void)!write(-1, "", 0); }, nullptr},
    {"writev",
     [] {
       iovec part{text, 0};
       (void)!writev(-1, &part, 1);
     },
     nullptr},
    {"fileno", [] { (void)fileno(stdout); }, nullptr},
    {"fileno_unlocked", [] { (void)fileno_unlocked(stderr); }, nullptr},
    {"fflush", [] { (void)fflush(stderr); }, nullptr},
    {"fflush_unlocked", [] { (void)fflush_unlocked(stderr); }, nullptr},
    {"chdir", [] { (void)!chdir("."); }, nullptr},
    {"fchdir", [] { (void)!fchdir(-1); }, nullptr},
    {"umask", [] { umask(umask(022)); }, nullptr},
    {"setvbuf", nullptr, kFile},
    {"setbuf", nullptr, kFile},
    {"setbuffer", nullptr, kFile},
    {"setlinebuf", nullptr, kFile},
    {"freopen", nullptr, kFile},
    {"freopen64", nullptr, kFile},
    {"fclose", nullptr, kFile},
    {"getchar", nullptr, kReads},
    {"getchar_unlocked", nullptr, kReads},
    {"getwchar", nullptr, kReads},
    {"scanf", nullptr, kReads},
    {"vscanf", nullptr, kReads},
    {"__isoc99_scanf", nullptr, kReads},
    {"__isoc99_vscanf", nullptr, kReads},
    {"__isoc23_scanf", nullptr, kReads},
    {"__isoc23_vscanf", nullptr, kReads},
    // Environment and arguments.
    {"getenv", [] { (void)getenv("CALLING_ALLOCATOR"); }, nullptr},
    {"secure_getenv", [] { (void)secure_getenv("CALLING_ALLOCATOR"); }, nullptr},
    {"setenv", [] { (void)setenv("CALLING_ALLOCATOR", "1", 1); }, nullptr},
    {"putenv", [] { (void)putenv(entry); }, nullptr},
    {"unsetenv", [] { (void)unsetenv("CALLING_ALLOCATOR"); }, nullptr},
    {"clearenv", nullptr, "would take the job's description away"},
    {"getopt", [] { (void)getopt(1, arguments, "a"); }, nullptr},
    {"__posix_getopt", [] { (void)__posix_getopt(1, arguments, "a"); }, nullptr},
    {"getopt_long", [] { (void)getopt_long(1, arguments, "a", no_options, nullptr); }, nullptr},
    {"getopt_long_only", [] { (void)getopt_long_only(1, arguments, "a", no_options, nullptr); }, nullptr},
    // Cores, threads, time.
    {"sched_getaffinity",
     [] {
       cpu_set_t set;
       (void)sched_getaffinity(0, sizeof set, &set);
     },
     nullptr},
    {"sched_setaffinity",
     [] {
       cpu_set_t set;
       if (sched_getaffinity(0, sizeof set, &set) == 0) sched_setaffinity(0, sizeof set, &set);
     },
     nullptr},
    {"get_nprocs", [] { (void)get_nprocs(); }, nullptr},
    {"sysconf",
     [] {
       (void)sysconf(_SC_NPROCESSORS_ONLN);
       (void)sysconf(_SC_PAGESIZE);
     },
     nullptr},
    {"sched_yield", [] { sched_yield(); }, nullptr},
    {"pthread_yield", nullptr, kSame},
    {"thrd_yield", [] { thrd_yield(); }, nullptr},
    {"nanosleep", [] { nanosleep(&moment, nullptr); }, nullptr},
    {"clock_nanosleep", [] { clock_nanosleep(CLOCK_MONOTONIC, 0, &moment, nullptr); }, nullptr},
    {"usleep", [] { usleep(1); }, nullptr},
    {"sleep", [] { sleep(0); }, nullptr},
    {"thrd_sleep", [] { thrd_sleep(&moment, nullptr); }, nullptr},
    {"pthread_create",
     [] {
       pthread_t t;
       if (pthread_create(&t, nullptr, end_at_once, nullptr) == 0) pthread_join(t, nullptr);
     },
     nullptr},
    {"pthread_join",
     [] {
       pthread_t t;
       if (pthread_create(&t, nullptr, end_at_once, nullptr) == 0) pthread_join(t, nullptr);
     },
     nullptr},
    {"thrd_create",
     [] {
       thrd_t t;
       if (thrd_create(&t, end_at_once_too, nullptr) == thrd_success) thrd_join(t, nullptr);
     },
     nullptr},
    {"thrd_join",
     [] {
       thrd_t t;
       if (thrd_create(&t, end_at_once_too, nullptr) == thrd_success) thrd_join(t, nullptr);
     },
     nullptr},
    {"gettid", [] { (void)gettid(); }, nullptr},
    {"localtime", [] { (void)localtime(&when); }, nullptr},
    {"gmtime", [] { (void)gmtime(&when); }, nullptr},
    {"asctime", [] { (void)asctime(gmtime_r(&when, &broken_down)); }, nullptr},
    {"ctime", [] { (void)ctime(&when); }, nullptr},
    // Signals and jumps.
    {"sigaction",
     [] {
       struct sigaction before;
       (void)sigaction(SIGUSR2, nullptr, &before);
     },
     nullptr},
    {"signal",
     [] {
       const auto before = signal(SIGURG, SIG_DFL);
       if (before != SIG_ERR) signal(SIGURG, before);
     },
     nullptr},
    {"sigprocmask",
     [] {
       sigset_t set;
       (void)sigprocmask(SIG_BLOCK, nullptr, &set);
     },
     nullptr},
    {"pthread_sigmask",
     [] {
       sigset_t set;
       (void)pthread_sigmask(SIG_BLOCK, nullptr, &set);
     },
     nullptr},
    {"sigaltstack",
     [] {
       stack_t stack;
       (void)sigaltstack(nullptr, &stack);
     },
     nullptr},
    {"longjmp",
     [] {
       if (setjmp(place) == 0) longjmp(place, 1);
     },
     nullptr},
    {"_longjmp",
     [] {
       if (_setjmp(place) == 0) _longjmp(place, 1);
     },
     nullptr},
    {"siglongjmp",
     [] {
       if (sigsetjmp(signal_place, 1) == 0) siglongjmp(signal_place, 1);
     },
     nullptr},
    {"__longjmp_chk",
     [] {
       if (_setjmp(place) == 0) __longjmp_chk(place, 1);
     },
     nullptr},
    // Random numbers and words.
    {"rand", [] { (void)rand(); }, nullptr},
    {"random", [] { (void)random(); }, nullptr},
    {"initstate",
     [] {
       char* const before = initstate(1, words, sizeof words);
       if (before != nullptr) setstate(before);
     },
     nullptr},
    {"setstate",
     [] {
       char* const before = initstate(1, words, sizeof words);
       if (before != nullptr) setstate(before);
     },
     nullptr},
    {"srand", [] { srand(1); }, nullptr},
    {"srandom", [] { srandom(1); }, nullptr},
    {"drand48", [] { (void)drand48(); }, nullptr},
    {"lrand48", [] { (void)lrand48(); }, nullptr},
    {"mrand48", [] { (void)mrand48(); }, nullptr},
    {"erand48", [] { (void)erand48(numbers); }, nullptr},
    {"nrand48", [] { (void)nrand48(numbers); }, nullptr},
    {"jrand48", [] { (void)jrand48(numbers); }, nullptr},
    {"srand48", [] { srand48(1); }, nullptr},
    {"seed48", [] { (void)seed48(numbers); }, nullptr},
    {"lcong48", [] { lcong48(numbers); }, nullptr},
    {"strtok",
     [] {
       (void)strtok(text, " ");
       (void)strtok(nullptr, " ");
     },
     nullptr},
    // What is loaded.
    {"dlsym",
     [] {
       (void)dlsym(RTLD_NEXT, "malloc");
       (void)dlsym(RTLD_DEFAULT, "malloc");
     },
     nullptr},
    {"dlvsym", [] { (void)dlvsym(RTLD_DEFAULT, "malloc", "GLIBC_2.2.5"); }, nullptr},
    {"dladdr",
     [] {
       Dl_info info;
       (void)dladdr(text, &info);
     },
     nullptr},
    {"dladdr1",
     [] {
       Dl_info info;
       void* extra;
       (void)dladdr1(text, &info, &extra, RTLD_DL_LINKMAP);
     },
     nullptr},
    {"dlerror", [] { (void)dlerror(); }, nullptr},
    {"dl_iterate_phdr", [] { (void)dl_iterate_phdr(stop_at_first, nullptr); }, nullptr},
    {"_dl_find_object",
     [] {
       dl_find_object found;
       (void)_dl_find_object(text, &found);
     },
     nullptr},
    {"dlopen", nullptr, "allocates in ld.so"},
    {"dlclose", nullptr, "allocates in ld.so"},
    {"dlinfo", nullptr, "needs a handle"},
    // The end.
    {"__cxa_atexit", [] { (void)__cxa_atexit(nothing, nullptr, nullptr); }, nullptr},
    {"__cxa_at_quick_exit", [] { (void)__cxa_at_quick_exit(nothing, nullptr); }, nullptr},
    {"__cxa_thread_atexit_impl", [] { (void)__cxa_thread_atexit_impl(nothing, nullptr, text); }, nullptr},
    {"on_exit", [] { (void)on_exit(nothing_with_status, nullptr); }, nullptr},
    {"__cxa_finalize", nullptr, "would run destructors"},
    {"exit", nullptr, kEnds},
    {"quick_exit", nullptr, kEnds},
    {"_exit", nullptr, kEnds},
    {"_Exit", nullptr, kEnds},
    {"execv", nullptr, kEnds},
    {"execvp", nullptr, kEnds},
    {"execl", nullptr, kEnds},
    {"execlp", nullptr, kEnds},
    {"__libc_start_main", nullptr, kEnds},
    // Processes.
    {"system", [] { (void)!system(nullptr); }, nullptr},
    {"popen", nullptr, kStarts},
    {"posix_spawn", nullptr, kStarts},
    {"posix_spawnp", nullptr, kStarts},
    // Memory: called by whoever allocates.
    {"calloc", nullptr, "is the allocator's"},
};

// ---------------------------------------------------------------------------------------------------------------------
// the allocator

constexpr std::size_t kHeader = 16, kRoom = std::size_t{8} << 30;

constinit std::atomic<std::uintptr_t> next{0};
constinit std::uintptr_t end_of_room = 0;
constinit std::atomic<bool> has_started{false};
constinit thread_local bool is_calling = false;

/// Where libclump_host.so lies.
constinit std::uintptr_t host_begin = 0, host_end = 0;
constinit const char* called = nullptr;
constinit const char* offenders[64];
constinit int offender_count = 0, call_count = 0;
constinit bool is_in_main = false, came_before_main = false;

const link_map* host_library() {
  for (const link_map* map = _r_debug.r_map; map != nullptr; map = map->l_next) {
    if (std::strstr(map->l_name, "libclump_host.so") != nullptr) return map;
  }
  return nullptr;
}

void note_host() {
  const link_map* const map = host_library();
  if (map == nullptr) return;
  host_begin = map->l_addr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(host_begin);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(host_begin + header->e_phoff);
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD)
      host_end = std::max(host_end, host_begin + segments[i].p_vaddr + segments[i].p_memsz);
  }
}

void call_all() {
  is_calling = true;
  for (const Row& row : kRows) {
    if (row.call == nullptr) continue;
    called = row.name;
    row.call();
    ++call_count;
  }
  called = nullptr;
  is_calling = false;
  came_before_main = !is_in_main;
}

void* take(std::size_t bytes, std::size_t alignment, const void* caller) {
  if (!has_started.exchange(true)) {
    const auto room = reinterpret_cast<std::uintptr_t>(
        reinterpret_cast<void*>(syscall(SYS_mmap, nullptr, kRoom, PROT_READ | PROT_WRITE,
                                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)));
    end_of_room = room + kRoom;
    next = room;
    note_host();
    call_all();
  }
  const auto from = reinterpret_cast<std::uintptr_t>(caller);
  if (is_calling && from >= host_begin && from < host_end && offender_count < 64 &&
      (offender_count == 0 || offenders[offender_count - 1] != called))
    offenders[offender_count++] = called;
  if (bytes > kRoom / 2) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::size_t all = bytes + kHeader + alignment;
  const std::uintptr_t begin = next.fetch_add(all);
  if (begin + all > end_of_room) {
    errno = ENOMEM;
    return nullptr;
  }
  const std::uintptr_t block = (begin + kHeader + alignment - 1) / alignment * alignment;
  *reinterpret_cast<std::size_t*>(block - kHeader) = bytes;
  return reinterpret_cast<void*>(block);
}

std::size_t size_of(const void* block) {
  return *reinterpret_cast<const std::size_t*>(static_cast<const char*>(block) - kHeader);
}

}  // namespace

extern "C" {

#define EXPORTED __attribute__((visibility("default")))

// What the test's main() asks, by dlsym().

EXPORTED void calling_allocator_main_begins() { is_in_main = true; }

/// The table has a row for the function: how to call it, or why not.
EXPORTED bool calling_allocator_knows(const char* function) {
  return std::ranges::any_of(kRows, [&](const Row& row) { return std::strcmp(row.name, function) == 0; });
}

/// How many functions were called by the start-up; 0 if that did not come before main().
EXPORTED int calling_allocator_calls() { return came_before_main ? call_count : 0; }

/// The functions that allocated by themselves; null where there are no more.
EXPORTED const char* calling_allocator_offender(int number) {
  return number < offender_count ? offenders[number] : nullptr;
}

EXPORTED void* malloc(std::size_t bytes) { return take(bytes, 16, __builtin_return_address(0)); }
EXPORTED void free(void*) {}
EXPORTED void* calloc(std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(count, size, &bytes)) {
    errno = ENOMEM;
    return nullptr;
  }
  // Never used before, so all zeros. The C library's calls come by way of libclump_host.so's calloc().
  return take(bytes, 16, nullptr);
}
EXPORTED void* realloc(void* block, std::size_t bytes) {
  void* const moved = take(bytes, 16, __builtin_return_address(0));
  if (moved != nullptr && block != nullptr) std::memcpy(moved, block, std::min(bytes, size_of(block)));
  return moved;
}
EXPORTED void* memalign(std::size_t alignment, std::size_t bytes) {
  return take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
}
EXPORTED void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
}
EXPORTED int posix_memalign(void** block, std::size_t alignment, std::size_t bytes) {
  *block = take(bytes, std::max<std::size_t>(alignment, 16), __builtin_return_address(0));
  return *block != nullptr ? 0 : ENOMEM;
}
EXPORTED std::size_t malloc_usable_size(void* block) { return block != nullptr ? size_of(block) : 0; }

}  // extern "C"
