/* Uses MPI and is linked to no MPI library: what opens it has opened one. Compiled with a family's header. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <string.h>

/* By dlsym() it finds the same library. */
int finds_another(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING], found[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length;
  MPI_Get_library_version(text, &length);
  ((int (*)(char*, int*))dlsym(RTLD_DEFAULT, "MPI_Get_library_version"))(found, &length);
  return strcmp(text, found) != 0;
}

int run(void) {
  int begun, rank, size, provided = MPI_THREAD_SERIALIZED, sum = 1;
  MPI_Comm copy;
  MPI_Status status;
  MPI_Initialized(&begun);
  if (!begun) MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, copy);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 3, &begun, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, copy,
               &status);
  MPI_Comm_free(&copy);
  const int left = (rank + size - 1) % size;
  return provided < MPI_THREAD_SERIALIZED || sum != size || status.MPI_SOURCE != left || begun != left ||
         status.MPI_TAG != 3 || copy != MPI_COMM_NULL;
}
