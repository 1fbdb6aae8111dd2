// fcntl() and the related functions: for descriptors 0, 1 and 2 they act on those of the calling rank
// (standard.h), and record locks belong to the rank (record_locks.h).
#undef _FORTIFY_SOURCE
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

#include "base/types.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/files/record_locks.h"
#include "process/files/standard.h"
#include "process/ids.h"
#include "process/signals/state.h"

namespace clump::image {
namespace {

constinit Hidden<int(int, int, ...)> real{"fcntl"};

/// F_SETOWN and the related commands: the receiver of signals about a descriptor. For the kernel that is the
/// process; signals/delivery.cc knows the ranks that have asked for the signals.
int control_owner(int descriptor, int command, void* argument) {
  const auto number = static_cast<pid_t>(reinterpret_cast<std::intptr_t>(argument));
  const auto known = [](pid_t process) {
    fiber::Identity* const rank = process_ids::rank_with(process);
    if (rank != nullptr) signals::state_of(*rank).owns_descriptors.store(true, std::memory_order_relaxed);
    return process_ids::for_kernel(process);
  };
  switch (command) {
    case F_SETOWN:
      return (*real)(descriptor, command, known(number));
    case F_GETOWN:
      return process_ids::for_rank((*real)(descriptor, command));
    case F_SETOWN_EX: {
      f_owner_ex owner = *static_cast<const f_owner_ex*>(argument);
      if (owner.type == F_OWNER_PGRP || process_ids::rank_with(owner.pid) == nullptr) break;
      owner = {F_OWNER_PID, known(owner.pid)};
      return (*real)(descriptor, command, &owner);
    }
    default: {  // F_GETOWN_EX
      auto& owner = *static_cast<f_owner_ex*>(argument);
      const int result = (*real)(descriptor, command, &owner);
      if (result == 0 && owner.type == F_OWNER_PID) owner.pid = process_ids::for_rank(owner.pid);
      return result;
    }
  }
  return (*real)(descriptor, command, argument);
}

int control(int descriptor, int command, void* argument, const void* caller) {
  const int number = static_cast<int>(reinterpret_cast<std::intptr_t>(argument));
  switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
      return standard::duplicate(descriptor, number, command == F_DUPFD_CLOEXEC, caller);
    case F_GETFD:
      if (standard::is_standard(descriptor)) return standard::descriptor_flags(descriptor);
      break;
    case F_SETFD:
      if (standard::is_standard(descriptor)) return standard::set_descriptor_flags(descriptor, number);
      break;
    case F_GETLK:
      if (argument == nullptr || !locks::are_kept()) break;
      return locks::get(standard::kernel_number(descriptor), *static_cast<struct flock*>(argument));
    case F_SETLK:
    case F_SETLKW:
      if (argument == nullptr || !locks::are_kept()) break;
      return locks::set(standard::kernel_number(descriptor), *static_cast<const struct flock*>(argument),
                        command == F_SETLKW);
    case F_OFD_SETLKW:
      if (argument == nullptr || !locks::are_kept()) break;
      return locks::wait_for_description(standard::kernel_number(descriptor),
                                         *static_cast<const struct flock*>(argument));
    case F_SETOWN:
    case F_GETOWN:
    case F_SETOWN_EX:
    case F_GETOWN_EX:
      if (!captured() || (argument == nullptr && command != F_GETOWN)) break;
      return control_owner(standard::kernel_number(descriptor), command, argument);
    default:
      break;
  }
  return (*real)(standard::kernel_number(descriptor), command, argument);
}

}  // namespace
}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int fcntl(int descriptor, int command, ...) {
  va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  return control(descriptor, command, argument, __builtin_return_address(0));
}

CLUMP_HOST_API int lockf(int descriptor, int command, off_t bytes) {
  static constinit Hidden<int(int, int, off_t)> real{"lockf"};
  const int number = standard::kernel_number(descriptor);
  if (!locks::are_kept()) return real(number, command, bytes);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_CUR;
  lock.l_len = bytes;
  switch (command) {
    case F_LOCK:
      return locks::set(number, lock, true);
    case F_TLOCK:
      return locks::set(number, lock, false);
    case F_ULOCK:
      lock.l_type = F_UNLCK;
      return locks::set(number, lock, false);
    case F_TEST:
      lock.l_type = F_RDLCK;
      if (locks::get(number, lock) != 0) return -1;
      if (lock.l_type == F_UNLCK) return 0;
      errno = EACCES;
      return -1;
    default:
      errno = EINVAL;
      return -1;
  }
}

// A handler that runs meanwhile may end the thread: see signals/kill.cc.
CLUMP_HOST_API int call_flock(int descriptor, int operation) asm("flock");
int call_flock(int descriptor, int operation) {
  static constinit Hidden<int(int, int)> real{"flock"};
  const int number = standard::kernel_number(descriptor);
  const bool waits = (operation & (LOCK_NB | LOCK_UN)) == 0;
  return waits && locks::are_kept() ? locks::wait_for_file(number, operation) : real(number, operation);
}

}  // extern "C"
