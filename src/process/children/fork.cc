// Functions that start a process note the rank that has started it (children.h). The process has the rank's
// cores and the rank's personality.
#include <fcntl.h>
#include <fmt/format.h>
#include <pty.h>
#include <sched.h>
#include <spawn.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <alloca.h>
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/types.h"
#include "fiber/fiber.h"
#include "image/fork_locks.h"
#include "image/no_cancel.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/children/children.h"
#include "process/children/fork_handlers.h"
#include "process/children/kept_preloads.h"
#include "process/children/personality.h"
#include "process/children/spawn.h"
#include "process/files/own_program.h"
#include "process/files/standard.h"
#include "process/files/streams.h"
#include "process/signals/signals.h"
#include "process/threads/cores.h"

namespace clump::image {
namespace {

using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                  char* const*, char* const*);

/// While one lives, a process that the calling thread spawns inherits what belongs to the rank: standard
/// streams, cores, personality. spawn_for_rank() does the rest.
class Inheritance {
 public:
  explicit Inheritance(const posix_spawn_file_actions_t* user) : streams_(user) {}

  /// The error of making this: 0, or an error number.
  int error() const { return streams_.error(); }
  const posix_spawn_file_actions_t* actions() const { return streams_.get(); }

 private:
  standard::ChildActions streams_;
  WithCoresOfFiber cores_;
  WithPersonalityOfFiber personality_;
};

bool is_folder(const char* path) {
  struct stat status {};
  return path != nullptr && *path != '\0' && stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/// The path at which execvp() finds a program by the rank's PATH. Empty if it finds none.
std::string program_in_path(const char* file) {
  if (std::strchr(file, '/') != nullptr || *file == '\0') return file;
  const char* const list = std::getenv("PATH");
  std::string_view folders = list != nullptr ? list : "/bin:/usr/bin";
  for (;;) {
    const std::size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    std::string path = fmt::format("{}/{}", folder.empty() ? "." : folder, file);
    if (access(path.c_str(), X_OK) == 0 && !is_folder(path.c_str())) return path;
    if (end == folders.size()) return {};
    folders.remove_prefix(end + 1);
  }
}

/// Returns `error`, the result of a posix_spawn() that has made the process `made` if it is 0.
int note_spawned(int error, pid_t made, pid_t* child) {
  if (error != 0) return error;
  note_child(made);
  if (child != nullptr) *child = made;
  return 0;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API pid_t fork() noexcept {
  static constinit Hidden<pid_t()> real{"fork"};
  const NoCancel no_cancel;
  fork_handlers::AroundFork handlers;
  const pid_t child = real();
  if (child > 0) note_child(child);
  handlers.after(child);
  return child;
}

/// For signal handlers: it does not run the functions of pthread_atfork().
CLUMP_HOST_API pid_t _Fork() noexcept {
  static constinit Hidden<pid_t()> real{"_Fork"};
  const bool is_of_rank = records_children();
  const signals::Set blocked = signals::block_all();
  const bool has_list = ForkLocks::hold_list();
  const pid_t child = real();
  if (child != 0) {
    if (has_list) ForkLocks::let_list_go();
    signals::set_kernel_mask(blocked);
    if (child > 0) note_child(child);
    return child;
  }
  ForkLocks::renew();
  _IO_list_resetlock();  // a thread that opens or closes a stream may have it, and is not here
  standard::go_home(false);
  if (is_of_rank) {
    keep_cores_after_fork();
    keep_personality_after_fork();
    forget_children();
    clump::fiber::forget_fibers();
  }
  signals::become_process(blocked);
  return 0;
}

CLUMP_HOST_API int forkpty(int* terminal, char* name, const struct termios* settings,
                           const struct winsize* size) noexcept {
  static constinit Hidden<int(int*, char*, const struct termios*, const struct winsize*)> real{"forkpty"};
  fork_handlers::AroundFork handlers;
  const int child = real(terminal, name, settings, size);
  if (child > 0) note_child(child);
  handlers.after(child);
  return child;
}

/// The C library's own would end the process of all ranks, and not only this one.
CLUMP_HOST_API int daemon(int keeps_directory, int keeps_descriptors) noexcept {
  static constinit Hidden<int(int, int)> real{"daemon"};
  if (!records_children()) return real(keeps_directory, keeps_descriptors);
  const pid_t child = fork();
  if (child < 0) return -1;
  if (child > 0) _exit(0);
  if (setsid() < 0) return -1;
  if (keeps_directory == 0) (void)!chdir("/");
  if (keeps_descriptors != 0) return 0;
  const int nothing = static_cast<int>(syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDWR));
  if (nothing < 0) return -1;
  for (int descriptor = 0; descriptor < 3; ++descriptor) dup2(nothing, descriptor);
  if (nothing > 2) close(nothing);
  return 0;
}

// The child of vfork() runs on the caller's stack until it ends or starts a program. It would overwrite what
// a function between the caller and the system call keeps there. So the return address is kept in a register
// meanwhile, as the C library does it, and the rest is done in the parent, when the child has left its stack.
CLUMP_HOST_API pid_t vfork() noexcept;
CLUMP_HOST_API pid_t __vfork() noexcept;

/// Called by vfork() with what the system call has returned to the parent.
[[gnu::visibility("hidden"), gnu::used]] pid_t clump_end_vfork(long result) noexcept {
  if (result < 0) {
    errno = static_cast<int>(-result);
    return -1;
  }
  note_child(static_cast<pid_t>(result));
  return static_cast<pid_t>(result);
}

#if defined(__x86_64__)
__asm__(R"(
  .pushsection .text
  .globl vfork
  .type vfork, @function
  .globl __vfork
  .set __vfork, vfork
vfork:
  .cfi_startproc
  endbr64
  popq %rdx
  .cfi_adjust_cfa_offset -8
  .cfi_register %rip, %rdx
  movl $58, %eax
  syscall
  pushq %rdx
  .cfi_adjust_cfa_offset 8
  .cfi_rel_offset %rip, 0
  testq %rax, %rax
  jne 1f
  ret
1:
  movq %rax, %rdi
  jmp clump_end_vfork
  .cfi_endproc
  .size vfork, .-vfork
  .popsection
)");
#elif defined(__aarch64__)
__asm__(R"(
  .pushsection .text
  .globl vfork
  .type vfork, %function
  .globl __vfork
  .set __vfork, vfork
vfork:
  .cfi_startproc
  mov x0, #0x4111
  mov x1, sp
  mov x2, #0
  mov x3, #0
  mov x4, #0
  mov x8, #220
  svc #0
  cbnz x0, 1f
  ret
1:
  b clump_end_vfork
  .cfi_endproc
  .size vfork, .-vfork
  .popsection
)");
#endif

CLUMP_HOST_API int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) noexcept {
  static constinit Hidden<int(int (*)(void*), void*, int, void*, ...)> real{"clone"};
  va_list rest;
  va_start(rest, argument);
  auto* const parent_number = va_arg(rest, pid_t*);
  auto* const thread_pointer = va_arg(rest, void*);
  auto* const child_number = va_arg(rest, pid_t*);
  va_end(rest);
  const int child = (*real)(function, stack, flags, argument, parent_number, thread_pointer, child_number);
  if (child > 0 && (flags & (CLONE_THREAD | CLONE_PARENT)) == 0) note_child(child);
  return child;
}

CLUMP_HOST_API int posix_spawn(pid_t* child, const char* path, const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const* arguments,
                               char* const* environment) {
  const Inheritance inherited(actions);
  if (inherited.error() != 0) return inherited.error();
  const std::size_t room = room_for_rank(environment);
  if (room != 0) environment = environment_for_rank(environment, alloca(room));
  pid_t made = 0;
  const int error =
      spawn_for_rank(&made, {path_for_rank(path), inherited.actions(), attributes, arguments, environment});
  return note_spawned(error, made, child);
}

CLUMP_HOST_API int posix_spawnp(pid_t* child, const char* file, const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const* arguments,
                                char* const* environment) {
  static constinit Hidden<Spawn> in_path{"posix_spawnp"};
  const Inheritance inherited(actions);
  if (inherited.error() != 0) return inherited.error();
  const std::string found = captured() ? program_in_path(file) : file;
  if (found.empty()) return ENOENT;
  const std::size_t room = room_for_rank(environment);
  if (room != 0) environment = environment_for_rank(environment, alloca(room));
  pid_t made = 0;
  const int error =
      captured()
          ? spawn_for_rank(&made, {found.c_str(), inherited.actions(), attributes, arguments, environment})
          : in_path(&made, file, inherited.actions(), attributes, arguments, environment);
  return note_spawned(error, made, child);
}

}  // extern "C"
