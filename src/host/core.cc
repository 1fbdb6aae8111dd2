#include "host/core.h"

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>

#include "base/process.h"
#include "host/mappings.h"
#include "host/stacks.h"
#include "image/image.h"
#include "process/libc/exit.h"

namespace clump::host {

namespace {

/// struct sigaction as the kernel has it. Past the C library, whose function keeps handlers for each rank.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  unsigned long mask;
};

void take_standard_action(int signal) {
  const KernelAction standard{};
  const unsigned long only = 1UL << (signal - 1);
  ::syscall(SYS_rt_sigaction, signal, &standard, nullptr, sizeof standard.mask);
  ::syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &only, nullptr, sizeof only);
}

/// Messages between processes lie in up to a gigabyte, the same for each process that ends.
void leave_shared_memory_out() {
  Mappings all;
  for (Mapping one; all.next(one);)
    if (one.is_shared_by_us)
      ::madvise(reinterpret_cast<void*>(one.begin), one.end - one.begin, MADV_DONTDUMP);
}

}  // namespace

bool leaves_core() {
  rlimit limit{};
  return ::syscall(SYS_prlimit64, 0, RLIMIT_CORE, nullptr, &limit) == 0 && limit.rlim_cur != 0;
}

void end_with_core(int signal) {
  leave_untouched_stacks_out_of_core();
  leave_shared_memory_out();
  take_standard_action(signal);
  ::syscall(SYS_tgkill, base::process_id(), ::syscall(SYS_gettid), signal);
  image::exit_process(128 + signal);  // the standard action of `signal` is not the end
}

}  // namespace clump::host
