#include "fiber/kernel_state.h"

#include <fcntl.h>
#include <linux/rseq.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "fiber/directory.h"
#include "fiber/fiber.h"
#include "fiber/slots.h"
#include "fiber/thread_settings.h"

// glibc 2.35 and newer: the place of a thread's rseq area.
extern "C" {
[[gnu::weak]] extern const std::ptrdiff_t __rseq_offset;
[[gnu::weak]] extern const unsigned int __rseq_size;
}

namespace clump::fiber {

namespace {

/// A set of signals, as the kernel has it.
using SignalMask = std::uint64_t;
constexpr SignalMask bit_of(int signal) { return SignalMask{1} << (signal - 1); }
/// The signals of the C library itself, which it does not let programs block.
constexpr SignalMask kNeverBlocked = bit_of(32) | bit_of(33);

/// A directory that a rank works in: a descriptor, so that it may be renamed, or its name, if there are no
/// more descriptors.
struct Directory {
  std::atomic<int> references{0};
  int descriptor = -1;
  char* path = nullptr;
};

struct Parts {
  Directory* directory = nullptr;  ///< null: as when the process began
  mode_t file_mask = 0;
  SignalMask signals = 0;
  ThreadSettings settings;

  bool operator==(const Parts&) const = default;
};

}  // namespace

struct KernelState {
  std::atomic<int> references{0};
  Parts parts;
};

namespace {

/// The lowest number for this file's descriptors, where programs do not come across them.
constexpr int kLowestDescriptor = 600;

constexpr std::uint32_t kMostStates = 1 << 17;
constexpr std::uint32_t kMostDirectories = 1 << 16;

/// The number of the kernel thread that the calling fiber has left.
constinit thread_local pid_t own_thread = 0;

constinit Slots<KernelState, kMostStates> states;
constinit Slots<Directory, kMostDirectories> directories;

struct Beginning {
  int directory = -1;  ///< descriptor
  mode_t file_mask = 0;
  SignalMask signals = 0;
  ThreadSettings settings;

  Parts parts() const { return {nullptr, file_mask, signals, settings}; }
};
constinit Beginning beginning;

SignalMask signals_now() {
  SignalMask mask = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &mask, sizeof mask);
  return mask;
}

void set_signals(SignalMask mask) { ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, nullptr, sizeof mask); }

// By system calls, because the C library's functions for this are interposed.
mode_t set_file_mask(mode_t mask) { return static_cast<mode_t>(::syscall(SYS_umask, mask)); }
int enter(int descriptor) { return static_cast<int>(::syscall(SYS_fchdir, descriptor)); }

int move_up(int descriptor) {
  const int high = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kLowestDescriptor);
  if (high < 0) return descriptor;
  ::close(descriptor);
  return high;
}

void enter_directory(const Directory* directory) {
  if (directory == nullptr)
    enter(beginning.directory);
  else if (directory->descriptor >= 0)
    enter(directory->descriptor);
  else
    ::syscall(SYS_chdir, directory->path);
}

void release_directory(Directory* directory) {
  // acq_rel: pairs with itself; the last one closes what the others have used.
  if (directory == nullptr || directory->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (directory->descriptor >= 0) ::close(directory->descriptor);
  std::free(directory->path);
  directories.give_back(directory);
}

Parts parts_of(const KernelState* state) { return state != nullptr ? state->parts : beginning.parts(); }

/// Notes what the calling fiber has set. Its kernel thread has it already, or will have it before another
/// fiber can run there.
void now_has(Fiber& fiber, const Parts& parts) {
  KernelState* made = nullptr;
  KernelState*& worker_threads = taken_on(*fiber.worker_thread);
  if (parts != beginning.parts()) {
    made = states.take();
    if (made == nullptr) return;  // 131072 of them are in use: the change lasts until another fiber runs here
    made->parts = parts;
    made->references.store(2, std::memory_order_relaxed);
    if (parts.directory != nullptr) parts.directory->references.fetch_add(1, std::memory_order_relaxed);
  }
  KernelState* const before = std::exchange(fiber.kernel_state, made);
  KernelState* const worker_threads_before = std::exchange(worker_threads, made);
  release(before);
  release(worker_threads_before);
}

/// The directory that the calling kernel thread is in. Takes over `descriptor`, unless it is -1. Null if
/// there is no memory.
Directory* make_directory(int descriptor) {
  Directory* made = directories.take();
  if (made != nullptr && descriptor < 0) {
    char path[PATH_MAX];
    made->path = ::getcwd(path, sizeof path) != nullptr ? ::strdup(path) : nullptr;
    if (made->path == nullptr) directories.give_back(std::exchange(made, nullptr));
  }
  if (made == nullptr) return nullptr;
  made->descriptor = descriptor;
  made->references.store(1, std::memory_order_relaxed);
  return made;
}

/// Notes that the calling fiber is in the directory of its kernel thread. Takes over `descriptor`, which may
/// be -1. False if there is no memory.
bool now_is_in(int descriptor) {
  Fiber& fiber = *rank_fiber();
  Directory* const directory = make_directory(descriptor);
  if (directory == nullptr) {
    if (descriptor >= 0) ::close(descriptor);
    return false;
  }
  Parts parts = parts_of(fiber.kernel_state);
  parts.directory = directory;
  now_has(fiber, parts);
  release_directory(directory);
  return true;
}

}  // namespace

void note_beginning() {
  if (beginning.directory >= 0) return;
  states.prepare();
  directories.prepare();
  beginning.directory = move_up(::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC));
  beginning.file_mask = set_file_mask(0);
  set_file_mask(beginning.file_mask);
  beginning.signals = signals_now();
  beginning.settings = ThreadSettings::now();
}

void retain(KernelState* state) noexcept {
  if (state != nullptr) state->references.fetch_add(1, std::memory_order_relaxed);
}

void release(KernelState* state) noexcept {
  // acq_rel: pairs with itself; the last one frees what the others have read.
  if (state == nullptr || state->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  release_directory(state->parts.directory);
  states.give_back(state);
}

void take_on(KernelState*& has, KernelState* wanted) noexcept {
  const int error = errno;
  const Parts before = parts_of(has);
  const Parts after = parts_of(wanted);
  if (before.directory != after.directory) enter_directory(after.directory);
  if (before.file_mask != after.file_mask) set_file_mask(after.file_mask);
  if (before.signals != after.signals) set_signals(after.signals);
  if (before.settings != after.settings) after.settings.take_on_after(before.settings);
  retain(wanted);
  release(std::exchange(has, wanted));
  errno = error;
}

void enter_as(const KernelState* state) noexcept {
  const int error = errno;
  const Parts parts = parts_of(state);
  enter_directory(parts.directory);
  set_file_mask(parts.file_mask);
  errno = error;
}

void inherit(KernelState* state) {
  ::unshare(CLONE_FS);
  enter_as(state);  // the kernel thread of the fiber that has made this thread may run another rank by now
}

int change_directory(int relative_to, const char* path) {
  int descriptor = ::openat(relative_to, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (descriptor >= 0) {
    descriptor = move_up(descriptor);
    if (enter(descriptor) != 0) {
      const int error = errno;
      ::close(descriptor);
      errno = error;
      return -1;
    }
  } else if (errno != EMFILE || ::syscall(SYS_chdir, path) != 0) {
    return -1;
  }
  if (now_is_in(descriptor)) return 0;
  enter_directory(parts_of(rank_fiber()->kernel_state).directory);
  errno = ENOMEM;
  return -1;
}

void note_directory() {
  const int error = errno;
  const int descriptor = ::open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  now_is_in(descriptor >= 0 ? move_up(descriptor) : -1);
  errno = error;
}

mode_t change_file_mask(mode_t mask) {
  Fiber& fiber = *rank_fiber();
  Parts parts = parts_of(fiber.kernel_state);
  parts.file_mask = mask & 0777;
  const mode_t before = set_file_mask(mask);
  now_has(fiber, parts);
  return before;
}

void set_signal_mask(std::uint64_t mask) {
  Fiber& fiber = *rank_fiber();
  const SignalMask wanted = mask & ~kNeverBlocked;
  if (wanted == signals_now() && wanted == parts_of(fiber.kernel_state).signals) return;
  // Noted before it is set, so that a handler that runs at once, and may leave by siglongjmp(), finds it.
  Parts parts = parts_of(fiber.kernel_state);
  parts.signals = wanted & ~(bit_of(SIGKILL) | bit_of(SIGSTOP));
  now_has(fiber, parts);
  set_signals(wanted);
}

ThreadSettings settings_of_caller() noexcept { return parts_of(rank_fiber()->kernel_state).settings; }

void note_settings_of_caller(const ThreadSettings& settings) noexcept {
  Fiber& fiber = *rank_fiber();
  Parts parts = parts_of(fiber.kernel_state);
  parts.settings = settings;
  now_has(fiber, parts);
}

void unregister_rseq() noexcept {
  if (&__rseq_offset == nullptr || &__rseq_size == nullptr || __rseq_size == 0) return;
  const int error = errno;
  void* const area = static_cast<char*>(__builtin_thread_pointer()) + __rseq_offset;
  constexpr unsigned kRegistered = 32;  // the C library registers at least so much, even if it uses less
#if defined(__aarch64__)
  constexpr unsigned kSignature = 0xd428bc00;
#else
  constexpr unsigned kSignature = 0x53053053;
#endif
  if (::syscall(SYS_rseq, area, kRegistered, RSEQ_FLAG_UNREGISTER, kSignature) != 0)
    ::syscall(SYS_rseq, area, __rseq_size, RSEQ_FLAG_UNREGISTER, kSignature);
  errno = error;
}

void prepare_to_be_left() noexcept {
  own_thread = static_cast<pid_t>(::syscall(SYS_gettid));
  unregister_rseq();
}

pid_t own_kernel_thread() noexcept {
  return own_thread != 0 ? own_thread : static_cast<pid_t>(::syscall(SYS_gettid));
}

void forget_own_kernel_thread() noexcept { own_thread = 0; }

void set_cores_of_this_thread(std::span<const int> cores) noexcept {
  // On the stack: a thread that calls malloc() gets an arena, 64 MB of address space (CPU_ALLOC calls it).
  constexpr std::size_t kMostCores = 8192;  // Linux has no more
  std::array<cpu_set_t, kMostCores / CPU_SETSIZE> set{};
  for (const int core : cores)
    if (core >= 0) CPU_SET_S(static_cast<std::size_t>(core), sizeof set, set.data());
  if (CPU_COUNT_S(sizeof set, set.data()) > 0)
    ::syscall(SYS_sched_setaffinity, 0, sizeof set, set.data());  // sched_setaffinity() is interposed
}

}  // namespace clump::fiber
