// A rank replaces itself by exec. Run with: plain | environment | personality | script | chain | fexecve |
// thread.
//
// Stands for programs that start themselves once more before MPI_Init, with other variables (LD_LIBRARY_PATH,
// OMP_*, GLIBC_TUNABLES) or without address space randomisation (setarch -R, as benchmarks do), and for
// programs that choose at run time which binary does the work. Right: the new program is the rank, of the
// same job.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

extern char** environ;

static void again(char** v) {
  execv("/proc/self/exe", v);
  perror("execv");
  _exit(9);
}

static void* again_in_thread(void* v) {
  again(v);
  return NULL;
}

/// The way to the program that calls MPI.
static void replace(const char* mode, char** v) {
  const char* const level = getenv("REEXEC_LEVEL");
  const int is_first = level == NULL;
  if (!strcmp(mode, "personality")) {
    if (personality(0xffffffff) & ADDR_NO_RANDOMIZE) return;
    personality(ADDR_NO_RANDOMIZE | personality(0xffffffff));
    again(v);
  }
  if (!strcmp(mode, "chain")) {  // three times
    const int next = is_first ? 1 : atoi(level) + 1;
    if (next > 3) return;
    char number[16];
    snprintf(number, sizeof number, "%d", next);
    setenv("REEXEC_LEVEL", number, 1);
    again(v);
  }
  if (!is_first) return;
  if (!strcmp(mode, "environment")) {  // nothing but what is given
    char path[4096], old[5000];
    snprintf(path, sizeof path, "PATH=%s", getenv("PATH") ? getenv("PATH") : "");
    snprintf(old, sizeof old, "PMI_RANK=%s", getenv("PMI_RANK"));
    char* all[] = {"REEXEC_LEVEL=1", path, old, NULL};
    execve(v[0], v, all);
    perror("execve");
    _exit(9);
  }
  setenv("REEXEC_LEVEL", "1", 1);
  if (!strcmp(mode, "plain")) again(v);
  if (!strcmp(mode, "script")) {
    execl("/bin/sh", "sh", "-c", "\"$0\" script", v[0], (char*)NULL);
    perror("execl");
    _exit(9);
  }
  if (!strcmp(mode, "fexecve")) {
    fexecve(open(v[0], O_RDONLY | O_CLOEXEC), v, environ);
    perror("fexecve");
    _exit(9);
  }
  if (!strcmp(mode, "thread")) {
    pthread_t thread;
    pthread_create(&thread, NULL, again_in_thread, v);
    pthread_join(thread, NULL);
  }
}

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "plain";
  const char* const before = getenv("PMI_RANK");
  replace(mode, argv);
  int rank, size, sum = 0, bad = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (before == NULL || atoi(before) != rank)
    printf("rank %d: PMI_RANK is %s\n", rank, before ? before : "not set"), bad = 1;
  const int one = 1;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (sum != 4) printf("rank %d: a job of %d ranks, want 4\n", rank, sum), bad = 1;
  if (getenv("REEXEC_LEVEL") == NULL && strcmp(mode, "personality") != 0)
    printf("rank %d has not replaced itself\n", rank), bad = 1;
  if (!strcmp(mode, "chain") && atoi(getenv("REEXEC_LEVEL")) != 3)
    printf("rank %d: level %s\n", rank, getenv("REEXEC_LEVEL")), bad = 1;
  const int to = (rank + 1) % size, from = (rank + size - 1) % size;
  int got = -1;
  MPI_Sendrecv(&rank, 1, MPI_INT, to, 1, &got, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (got != from) printf("rank %d got %d\n", rank, got), bad = 1;
  MPI_Reduce(&bad, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%s: %s\n", mode, sum ? "WRONG" : "ok");
  MPI_Finalize();
  return bad;
}
