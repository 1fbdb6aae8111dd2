// A library that may call what acts on the process; which call is up to the program.
#define _GNU_SOURCE
#include <stddef.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/sem.h>
#include <unistd.h>

void make_call(const char* call) {
  struct sembuf take = {0, -1, SEM_UNDO};
  if (strcmp(call, "sbrk") == 0) {
    (void)!sbrk(4096);
  } else if (strcmp(call, "brk") == 0) {
    (void)!brk(sbrk(0));
  } else if (strcmp(call, "nice") == 0) {
    (void)!nice(0);  // asks only
    (void)!nice(1);
  } else if (strcmp(call, "semop") == 0) {
    semop(-1, &take, 1);
  } else if (strcmp(call, "ptrace") == 0) {
    ptrace(PTRACE_PEEKDATA, getpid(), NULL, NULL);
  }
}
