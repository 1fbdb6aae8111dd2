// Each rank has a process id of its own: no other rank has it, it stays the same, all ways to ask for it
// agree, and what takes a process id takes it. For: temporary files, sockets and shared memory with names
// like "/tmp/scratch.%d", srand(time(NULL) + getpid()), programs that tell their main thread by gettid() ==
// getpid(), log lines with process ids, Python's tempfile.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include "../signals/check.h"

static pid_t id, *ids;

static int compare(const void* a, const void* b) { return *(const pid_t*)a - *(const pid_t*)b; }

static void unique(void) {
  pid_t* const sorted = malloc((size_t)size * sizeof *sorted);
  memcpy(sorted, ids, (size_t)size * sizeof *sorted);
  qsort(sorted, (size_t)size, sizeof *sorted, compare);
  for (int i = 1; i < size; ++i) CHECK(sorted[i] != sorted[i - 1]);
  free(sorted);
}

static void* other_thread(void* unused) {
  CHECK(getpid() == id && syscall(SYS_getpid) == id);
  CHECK(gettid() != id);
  return unused;
}

static void asked_in_all_ways(void) {
  char path[64], text[64];
  CHECK(getpid() == id && syscall(SYS_getpid) == id);
  CHECK(gettid() == id && syscall(SYS_gettid) == id);
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, other_thread, NULL) == 0 && pthread_join(thread, NULL) == 0);
  const ssize_t length = readlink("/proc/self", text, sizeof text - 1);
  text[length > 0 ? length : 0] = '\0';
  CHECK(atoi(text) == id);
  snprintf(path, sizeof path, "/proc/%d", id);
  char* const whole = realpath("/proc/self", NULL);
  CHECK(whole != NULL && strcmp(whole, path) == 0);
  free(whole);
}

/// By what is in /proc of any rank of this host.
static void looked_at(pid_t other) {
  char path[64], mine[4096], its[4096];
  snprintf(path, sizeof path, "/proc/%d/exe", other);
  const ssize_t own_length = readlink("/proc/self/exe", mine, sizeof mine);
  CHECK(readlink(path, its, sizeof its) == own_length && memcmp(mine, its, (size_t)own_length) == 0);
  snprintf(path, sizeof path, "/proc/%d/status", other);
  CHECK(access(path, R_OK) == 0);
  CHECK(kill(other, 0) == 0);
}

static void taken_by_system_calls(void) {
  cpu_set_t cores, same;
  CHECK(sched_getaffinity(0, sizeof cores, &cores) == 0 && sched_getaffinity(id, sizeof same, &same) == 0);
  CHECK(CPU_EQUAL(&cores, &same));
  CHECK(getpgid(id) == getpgrp() && getsid(id) == getsid(0));
  CHECK(sched_getscheduler(id) == SCHED_OTHER);
  errno = 0;
  CHECK(getpriority(PRIO_PROCESS, (id_t)id) == getpriority(PRIO_PROCESS, 0) && errno == 0);
  struct rlimit now, asked;
  CHECK(getrlimit(RLIMIT_STACK, &now) == 0 && prlimit(id, RLIMIT_STACK, NULL, &asked) == 0);
  CHECK(now.rlim_cur == asked.rlim_cur);
  int from = rank, to = -1;
  const struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
  CHECK(process_vm_readv(id, &local, 1, &remote, 1, 0) == sizeof to && to == rank);
  clockid_t clock;
  struct timespec used;
  CHECK(clock_getcpuclockid(id, &clock) == 0 && clock_gettime(clock, &used) == 0);
  errno = 0;
  CHECK(waitpid(id, NULL, 0) == -1 && errno == ECHILD);
}

static void names_files(void) {
  char path[64];
  int read_back = -1;
  snprintf(path, sizeof path, "own_ids.%d", getpid());
  FILE* file = fopen(path, "wx");
  CHECK(file != NULL);
  if (file == NULL) return;
  fprintf(file, "%d", rank);
  fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  file = fopen(path, "r");
  CHECK(file != NULL && fscanf(file, "%d", &read_back) == 1 && read_back == rank);
  if (file != NULL) fclose(file);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(unlink(path) == 0);
}

int main(int argc, char** argv) {
  const pid_t before_init = getpid();
  begin(&argc, &argv);
  id = getpid();
  CHECK(id == before_init);
  ids = malloc((size_t)size * sizeof *ids);
  MPI_Allgather(&id, 1, MPI_INT, ids, 1, MPI_INT, MPI_COMM_WORLD);
  if (rank == 0) unique();
  // Also where another core has taken the rank.
  for (int i = 0; i < 200; ++i) {
    int flag;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (i % 20 == rank % 20) MPI_Barrier(MPI_COMM_SELF);
    sched_yield();
    CHECK(getpid() == id);
  }
  asked_in_all_ways();
  looked_at(ids[(rank + 1) % size]);
  taken_by_system_calls();
  names_files();
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(getpid() == id);
  return end();
}
