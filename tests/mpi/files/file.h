/* A file for a test: its name is the same at all ranks, and no other test has it. */
#ifndef CLUMP_TESTS_FILES_FILE_H
#define CLUMP_TESTS_FILES_FILE_H

#include <unistd.h>

#include "check.h"

static int test_rank, test_size;
static char test_file[256];

static inline void test_begin(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &test_size);
  /* In the working directory, which all hosts of a job share. */
  if (test_rank == 0)
    snprintf(test_file, sizeof test_file, "files_test_%ld_%d", (long)getpid(),
             (int)((long long)(MPI_Wtime() * 1e6) & 0xffffff));
  MPI_Bcast(test_file, sizeof test_file, MPI_CHAR, 0, MPI_COMM_WORLD);
}

static inline int test_end(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (test_rank == 0) unlink(test_file);
  MPI_Finalize();
  return check_result();
}

static inline MPI_File test_open(int amode) {
  MPI_File file = MPI_FILE_NULL;
  CHECK_OK(MPI_File_open(MPI_COMM_WORLD, test_file, amode, MPI_INFO_NULL, &file));
  return file;
}

/* The number of bytes that a status tells. */
static inline long long test_bytes(const MPI_Status* status) {
  MPI_Count bytes = -1;
  MPI_Get_elements_c(status, MPI_BYTE, &bytes);
  return (long long)bytes;
}

#endif
