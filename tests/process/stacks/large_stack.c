// Stands for programs with large automatic arrays: Fortran compiled with -fstack-arrays, -frecursive or
// -fopenmp, whose users are told to say `ulimit -s unlimited`, and programs that call setrlimit(RLIMIT_STACK)
// at the beginning of main() for the same purpose.
//   alloca MB     an automatic array of so many MB, under a limit that allows it
//   recurse MB    recursion as deep
//   raise MB      the same after setrlimit(): first a small limit is raised, then the recursion needs what it
//   gives unlimited MB  after setrlimit(RLIM_INFINITY) prlimit MB    after prlimit64() thread MB     an array
//   as large in a thread that has asked for a stack of this size
// Right: every rank uses all of it at the same time, finds in it what it wrote, and ends with code 0.
#define _GNU_SOURCE
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { kFrame = 4096 };

static int rank;

/// Writes into each page of an array of `bytes`, waits until all ranks have, and counts what is not there any
/// more.
static long __attribute__((noinline)) use_array(long bytes) {
  volatile unsigned char* const array = alloca(bytes);
  long wrong = 0;
  for (long i = bytes - 1; i >= 0; i -= kFrame) array[i] = (unsigned char)(rank + i / kFrame);
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = bytes - 1; i >= 0; i -= kFrame) wrong += array[i] != (unsigned char)(rank + i / kFrame);
  return wrong;
}

static long __attribute__((noinline)) recurse(long depth) {
  volatile unsigned char frame[kFrame];
  frame[0] = (unsigned char)(depth + rank);
  frame[kFrame - 1] = 1;
  long wrong = 0;
  if (depth > 0)
    wrong = recurse(depth - 1);
  else
    MPI_Barrier(MPI_COMM_WORLD);
  return wrong + (frame[0] != (unsigned char)(depth + rank)) + (frame[kFrame - 1] != 1);
}

static void* in_thread(void* bytes) { return (void*)use_array((long)bytes); }

static long use_thread(long bytes) {
  pthread_attr_t attributes;
  pthread_t thread;
  void* wrong = NULL;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)bytes + (1 << 20));
  if (pthread_create(&thread, &attributes, in_thread, (void*)bytes) != 0) return 1;
  pthread_join(thread, &wrong);
  return (long)wrong;
}

static void set_limit(const char* how, rlim_t bytes) {
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = strcmp(how, "unlimited") == 0 ? RLIM_INFINITY : bytes;
  const int failed = strcmp(how, "prlimit") == 0
                         ? prlimit64(0, RLIMIT_STACK, (const struct rlimit64*)&limit, NULL)
                         : setrlimit(RLIMIT_STACK, &limit);
  if (failed != 0) {
    perror("setrlimit");
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
}

int main(int argc, char** argv) {
  int granted = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* const how = argc > 1 ? argv[1] : "alloca";
  const long bytes = (argc > 2 ? atol(argv[2]) : 1) << 20;
  long wrong;
  if (strcmp(how, "alloca") == 0)
    wrong = use_array(bytes);
  else if (strcmp(how, "thread") == 0)
    wrong = use_thread(bytes);
  else {
    if (strcmp(how, "recurse") != 0) set_limit(how, (rlim_t)(bytes + (64 << 20)));
    wrong = recurse(bytes / kFrame);
  }
  if (wrong != 0) printf("rank %d: %ld pages of its stack do not hold what it wrote\n", rank, wrong);
  long all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
