// forbid ERROR NAME[,NAME...] PROGRAM [ARGUMENTS]: runs the program where these system calls fail with this
// error (EPERM, ENOSYS), as the seccomp filters of container runtimes have it. Ends with code 77 where the
// system lets it install no filter, 2 where it is used wrongly.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

// Older headers do not know all of these; their numbers are the same on all machines.
enum {
  NUMBER_OF_PIDFD_OPEN = 434,
  NUMBER_OF_CLONE3 = 435,
  NUMBER_OF_CLOSE_RANGE = 436,
  NUMBER_OF_EPOLL_PWAIT2 = 441
};

static const struct {
  const char* name;
  int number;
} known[] = {{"clone3", NUMBER_OF_CLONE3},
             {"close_range", NUMBER_OF_CLOSE_RANGE},
             {"epoll_create1", SYS_epoll_create1},
             {"epoll_pwait2", NUMBER_OF_EPOLL_PWAIT2},
             {"eventfd2", SYS_eventfd2},
             {"get_mempolicy", SYS_get_mempolicy},
             {"io_uring_setup", SYS_io_uring_setup},
             {"madvise", SYS_madvise},
             {"mbind", SYS_mbind},
             {"membarrier", SYS_membarrier},
             {"memfd_create", SYS_memfd_create},
             {"perf_event_open", SYS_perf_event_open},
             {"personality", SYS_personality},
             {"pidfd_open", NUMBER_OF_PIDFD_OPEN},
             {"prlimit64", SYS_prlimit64},
             {"process_vm_readv", SYS_process_vm_readv},
             {"process_vm_writev", SYS_process_vm_writev},
             {"ptrace", SYS_ptrace},
             {"rseq", SYS_rseq},
             {"sched_getaffinity", SYS_sched_getaffinity},
             {"sched_setaffinity", SYS_sched_setaffinity},
             {"set_mempolicy", SYS_set_mempolicy},
             {"signalfd4", SYS_signalfd4},
             {"socketpair", SYS_socketpair},
             {"statx", SYS_statx},
             {"timer_create", SYS_timer_create},
             {"timerfd_create", SYS_timerfd_create},
             {"unshare", SYS_unshare},
             {"userfaultfd", SYS_userfaultfd}};

static int number_of(const char* name) {
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i)
    if (strcmp(known[i].name, name) == 0) return known[i].number;
  fprintf(stderr, "forbid: the system call '%s' is not in its table\n", name);
  exit(2);
}

int main(int argc, char** argv) {
  if (argc < 4) return fprintf(stderr, "forbid ERROR NAME[,NAME...] PROGRAM [ARGUMENTS]\n"), 2;
  const unsigned error = strcmp(argv[1], "EPERM") == 0 ? EPERM : strcmp(argv[1], "ENOSYS") == 0 ? ENOSYS : 0;
  if (error == 0) return fprintf(stderr, "forbid: the error '%s' is neither EPERM nor ENOSYS\n", argv[1]), 2;

  enum { LONGEST = 2 * sizeof known / sizeof *known + 8 };
  struct sock_filter code[LONGEST];
  unsigned short length = 0;
  code[length++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
  code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  code[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (char* name = strtok(argv[2], ","); name != NULL && length + 3 < LONGEST; name = strtok(NULL, ",")) {
    code[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number_of(name), 0, 1);
    code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
  }
  code[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);

  const struct sock_fprog filter = {length, code};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    fprintf(stderr, "forbid: no filter can be installed here: %s\n", strerror(errno));
    return 77;
  }
  execvp(argv[3], argv + 3);
  fprintf(stderr, "forbid: cannot run %s: %s\n", argv[3], strerror(errno));
  return 2;
}
