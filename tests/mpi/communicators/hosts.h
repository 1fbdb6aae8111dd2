/* On which host each rank of the world is, as MPI_Get_processor_name tells. */
#ifndef CLUMP_TESTS_COMMUNICATORS_HOSTS_H
#define CLUMP_TESTS_COMMUNICATORS_HOSTS_H

#include <string.h>

#include "check.h"

enum { kMostRanks = 64 };

/* The world ranks on the caller's host, in order; how many. Collective. */
static int ranks_on_my_host(int* ranks) {
  static char names[kMostRanks][MPI_MAX_PROCESSOR_NAME];
  char mine[MPI_MAX_PROCESSOR_NAME] = "";
  int size = 0, length = 0, n = 0;
  CHECK_OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
  CHECK_OK(MPI_Get_processor_name(mine, &length));
  CHECK_OK(MPI_Allgather(mine, sizeof mine, MPI_CHAR, names, sizeof mine, MPI_CHAR, MPI_COMM_WORLD));
  for (int i = 0; i < size; ++i)
    if (strcmp(names[i], mine) == 0) ranks[n++] = i;
  return n;
}

#endif
