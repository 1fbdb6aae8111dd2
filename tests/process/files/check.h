// How the programs of this folder tell what is wrong: with the rank, on a stream that no test redirects.
#pragma once

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int check_rank, check_size, check_failures;
static int check_job;  // a number for names of files: tests run at the same time

static void check_begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  check_job = (int)getpid();
  MPI_Bcast(&check_job, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

__attribute__((format(printf, 2, 3))) static void check(int good, const char* format, ...) {
  if (good) return;
  ++check_failures;
  char text[512];
  const int begin = snprintf(text, sizeof text, "rank %d: ", check_rank);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text + begin, sizeof text - (size_t)begin, format, arguments);
  va_end(arguments);
  fprintf(stderr, "%s\n", text);
}

// Ends all ranks with 1 if a check of any of them has failed.
static int check_end(void) {
  int all = 0;
  MPI_Allreduce(&check_failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}

// The whole of a file; "" if there is none. The caller frees it.
__attribute__((unused)) static char* contents(const char* name) {
  char* text = (char*)calloc(1, 1 << 16);
  FILE* file = fopen(name, "r");
  if (file == NULL) return text;
  const size_t bytes = fread(text, 1, (1 << 16) - 1, file);
  text[bytes] = '\0';
  fclose(file);
  return text;
}

__attribute__((unused)) static void check_contents(const char* name, const char* expected) {
  char* found = contents(name);
  check(strcmp(found, expected) == 0, "%s holds\n%s\ninstead of\n%s", name, found, expected);
  free(found);
}
