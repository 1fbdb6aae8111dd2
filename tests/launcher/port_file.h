/* The name of a port in a file, by which two jobs find each other. */
#ifndef CLUMP_TESTS_PORT_FILE_H
#define CLUMP_TESTS_PORT_FILE_H

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

/* The file is there as a whole or not at all. */
static void put_port(const char* file, const char* port) {
  char fresh[4096];
  snprintf(fresh, sizeof fresh, "%s.new", file);
  FILE* const out = fopen(fresh, "w");
  if (out == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
  fputs(port, out);
  fclose(out);
  rename(fresh, file);
}

/* Waits until it is there. */
static void get_port(const char* file, char* port) {
  FILE* in;
  while ((in = fopen(file, "r")) == NULL) usleep(1000);
  if (fgets(port, MPI_MAX_PORT_NAME, in) == NULL) MPI_Abort(MPI_COMM_WORLD, 9);
  fclose(in);
}

#endif
