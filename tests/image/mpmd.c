/* One of several programs in a job. It uses the same names for other things than the C++ program,
 * and loads a plugin that is bound to it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rank.h"

int counter = 100;
int* where = &counter;

const char* name_of_program(void) { return "C"; }

int main(int argc, char** argv, char** environment) {
  const int rank = begin_rank();
  counter += rank;
  int sum = 0;
  MPI_Allreduce(where, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const char* (*asked)(void) = NULL;
  void* plugin = dlopen(argv[1], RTLD_NOW);
  if (plugin != NULL) asked = (const char* (*)(void))dlsym(plugin, "ask");
  const char* (*own)(void) = (const char* (*)(void))dlsym(RTLD_DEFAULT, "name_of_program");
  fprintf(stdout, "%d %s %s %s %s %s\n", sum, argv[2], getenv("PART"),
          environ == environment ? "own" : "another's", asked != NULL ? asked() : dlerror(),
          own == name_of_program ? "found" : "not found");
  (void)argc;
  MPI_Finalize();
  return 0;
}
