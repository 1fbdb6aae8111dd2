// Functions that give or take the number of a process: process_ids.h. Those that send signals are in
// signals/kill.cc. Functions that are not here take the number of a thread as well: getpgid(), getsid(),
// sched_*(), getpriority(), process_vm_readv().
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/process.h"
#include "base/types.h"
#include "image/objects.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/standard.h"
#include "process/ids.h"

namespace clump::image {
namespace {

/// Whether an address belongs to a library that ranks share. Such a library keeps what it knows of the
/// process for all ranks, and might take another process id for a fork(). Code that is in no file belongs to
/// a program.
bool is_shared_code(const void* address) {
  if (instance_at(address) != nullptr) return false;
  const Object* const object = Registry::get().find(reinterpret_cast<std::uintptr_t>(address));
  if (object != nullptr) return !object->is_private;
  // Libraries that shared libraries open themselves are in no registry.
  dl_find_object found;
  return _dl_find_object(const_cast<void*>(address), &found) == 0;
}

pid_t process_for(const void* caller) {
  const pid_t process = base::process_id();
  if (!captured()) return process;
  const pid_t mine = process_ids::mine();
  return mine == process || is_shared_code(caller) ? process : mine;
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API pid_t getpid() noexcept { return process_for(__builtin_return_address(0)); }
CLUMP_HOST_API pid_t __getpid() noexcept { return process_for(__builtin_return_address(0)); }

/// The parent of a rank's child is the rank.
CLUMP_HOST_API pid_t getppid() noexcept {
  const auto parent = static_cast<pid_t>(syscall(SYS_getppid));
  return captured() ? process_ids::for_rank(parent) : parent;
}

/// The process group is common to all ranks.
CLUMP_HOST_API int setpgid(pid_t process, pid_t group) noexcept {
  static constinit Hidden<int(pid_t, pid_t)> real{"setpgid"};
  return real(process_ids::for_kernel(process), process_ids::for_kernel(group));
}

/// For a rank the result is a descriptor of its thread (Linux 6.9), which identifies the rank.
CLUMP_HOST_API int pidfd_open(pid_t process, unsigned flags) noexcept {
  constexpr unsigned kThread = 0200;  // PIDFD_THREAD
  const clump::fiber::Identity* const rank = process_ids::rank_with(process);
  const bool is_first = process_ids::for_kernel(process) == process;
  const auto opened = static_cast<int>(
      syscall(SYS_pidfd_open, process, rank == nullptr || is_first ? flags : flags | kThread));
  if (opened < 0 && rank != nullptr && !is_first && errno == EINVAL) errno = ENOSYS;
  return clump::image::standard::place_lowest(opened, __builtin_return_address(0));
}

/// Processor time is counted for all ranks together.
CLUMP_HOST_API int clock_getcpuclockid(pid_t process, clockid_t* clock) noexcept {
  static constinit Hidden<int(pid_t, clockid_t*)> real{"clock_getcpuclockid"};
  return real(process_ids::for_kernel(process), clock);
}

}  // extern "C"
