// Code on the stack: nested functions of GNU C (Fortran has its internal procedures as arguments in the same
// way). The program says in its file that it needs stacks that can be executed: those of ranks, of their
// threads, and what is added to a stack that grows. With a file as argument: that is a library which does,
// and the program does not.
#ifdef NESTED
__attribute__((visibility("default"))) int sum_of(int rank) {
  int sum = rank;
  void add(int number) { sum += number; }
  void (*volatile each)(int) = add;
  for (int i = 0; i < 10; ++i) each(i);
  return sum;
}
#endif

#ifndef PLUGIN
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>

static int rank, wrong;
static int (*sum)(int);

static void check(const char* where) {
  if (sum(rank) == rank + 45) return;
  ++wrong;
  printf("rank %d: a wrong sum %s\n", rank, where);
}

static void* in_thread(void* where) {
  check(where);
  return NULL;
}

static void deep(int level) {
  volatile char frame[1 << 20];
  frame[0] = (char)level;
  if (level == 0)
    check("where the stack has grown");
  else
    deep(level - 1);
  frame[1] = frame[0];
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
#ifdef NESTED
  sum = sum_of;
#else
  void* const library = dlopen(argv[1], RTLD_NOW);
  if (library != NULL) *(void**)&sum = dlsym(library, "sum_of");
  if (sum == NULL) return puts(dlerror()), 1;
#endif
  MPI_Barrier(MPI_COMM_WORLD);
  check("on the rank's stack");
  pthread_t thread;
  if (pthread_create(&thread, NULL, in_thread, "in a thread") == 0) pthread_join(thread, NULL);
  struct rlimit limit;
  getrlimit(RLIMIT_STACK, &limit);
  limit.rlim_cur = 32 << 20;
  if (setrlimit(RLIMIT_STACK, &limit) == 0) deep(20);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
#endif
