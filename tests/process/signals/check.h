// What the programs here share: a check that says what is wrong, and the end that tells mpiexec of it.
#pragma once
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank = -1, size = 0;
static volatile int wrong = 0;

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      printf("rank %d: %s:%d: %s does not hold\n", rank, __FILE__, __LINE__, #condition); \
      wrong = 1;                                                                          \
    }                                                                                     \
  } while (0)

static inline void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
}

static int end(void) {
  int any = 0;
  MPI_Allreduce((void*)&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  MPI_Finalize();
  if (rank == 0 && !any) printf("ok\n");
  return any;
}

static inline void install(int number, void (*handler)(int), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  CHECK(sigaction(number, &action, NULL) == 0);
}

static inline void install_info(int number, void (*handler)(int, siginfo_t*, void*), int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_sigaction = handler;
  action.sa_flags = flags | SA_SIGINFO;
  CHECK(sigaction(number, &action, NULL) == 0);
}
