// How the programs of this folder tell what is wrong: with the rank, in a file that no test redirects.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, ranks, failures;
static char folder[64];  // the rank's own, from make_folder() to end()

static void step(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

// Makes an empty folder. For programs that end with end(), which removes it.
__attribute__((unused)) static void make_folder(void) {
  snprintf(folder, sizeof folder, "/tmp/clump_libc_%d_XXXXXX", rank);
  if (mkdtemp(folder) == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
}

__attribute__((format(printf, 2, 3), unused)) static void check(int good, const char* format, ...) {
  if (good) return;
  ++failures;
  va_list arguments;
  va_start(arguments, format);
  printf("rank %d: ", rank);
  vprintf(format, arguments);
  printf("\n");
  va_end(arguments);
}

__attribute__((unused)) static void check_text(const char* what, const char* is, const char* wanted) {
  check(is != NULL && strcmp(is, wanted) == 0, "%s is \"%s\", and should be \"%s\"", what,
        is != NULL ? is : "(null)", wanted);
}

// Ends all ranks with 1 if a check of any of them has failed.
static int end(void) {
  char command[96];
  snprintf(command, sizeof command, "rm -rf %s", folder);
  if (folder[0] != '\0' && system(command) != 0) ++failures;
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
