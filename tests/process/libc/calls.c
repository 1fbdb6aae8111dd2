// A library that may call what acts on the process; which call is up to the program.
#define _GNU_SOURCE
#include <aio.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
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
  } else if (strcmp(call, "seteuid") == 0) {
    (void)!seteuid(geteuid());
  } else if (strcmp(call, "setpriority") == 0) {
    setpriority(PRIO_PROCESS, 0, 19);
  } else if (strcmp(call, "signalfd") == 0) {
    sigset_t signals;
    sigemptyset(&signals);
    close(signalfd(-1, &signals, 0));
  } else if (strcmp(call, "getprotoent") == 0) {
    getprotoent();
  } else if (strcmp(call, "tmpnam") == 0) {
    char name[L_tmpnam];
    tmpnam(name);
  } else if (strcmp(call, "aio_write") == 0) {
    struct aiocb none = {.aio_fildes = -1};
    aio_write(&none);
  } else if (strcmp(call, "pthread_mutexattr_setrobust") == 0) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
  }
}
