/* files fill FILE: the ranks write together, block after block beside each other, until there is no room. Then
   all have the same error at the same call, and what was written by the calls before is there.
   files kill FILE MILLISECONDS: rank 1 is killed while all write together for ever, in atomic mode.
   files open FILE: tells the class of the error with which the file cannot be opened for writing. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kBlock = 4096, kBlocks = 64, kBytes = kBlock * kBlocks };

static int rank, size;
static unsigned char data[kBytes];

static int class_of(int code) {
  int found = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &found);
  return found;
}

static unsigned char value_of(int call) { return (unsigned char)(1 + (call * 16 + rank) % 255); }

static MPI_File open_file(const char* name) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  if (code != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Datatype block, filetype;
  MPI_Type_contiguous(kBlock, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, (MPI_Aint)kBlock * size, &filetype);
  MPI_Type_commit(&filetype);
  MPI_File_set_view(file, (MPI_Offset)rank * kBlock, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
  MPI_Type_free(&block);
  MPI_Type_free(&filetype);
  return file;
}

/* Whether what the first `calls` calls wrote is there. */
static int is_intact(MPI_File file, int calls) {
  MPI_Status status;
  int good = 1, bytes = 0;
  MPI_File_seek(file, 0, MPI_SEEK_SET);
  for (int call = 0; call < calls; ++call) {
    MPI_File_read(file, data, kBytes, MPI_BYTE, &status);
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    good = good && bytes == kBytes;
    for (int i = 0; i < kBytes; ++i) good = good && data[i] == value_of(call);
  }
  return good;
}

static int fill(const char* name) {
  MPI_File file = open_file(name);
  int calls = 0, found;
  for (;; ++calls) {
    memset(data, value_of(calls), kBytes);
    found = class_of(MPI_File_write_all(file, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE));
    if (found != MPI_SUCCESS) break;
  }
  const int mine[4] = {calls, -calls, found, is_intact(file, calls) ? 0 : -1};
  int least[4], other = 0;
  MPI_Allreduce(mine, least, 4, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  const int differs = found != least[2] || least[0] != -least[1];
  MPI_Allreduce(&differs, &other, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  const char* const word = found == MPI_ERR_NO_SPACE ? "no space"
                           : found == MPI_ERR_QUOTA  ? "quota exceeded"
                                                     : "another error";
  if (rank == 0)
    printf("%s after %d calls, %s at all ranks, %s\n", word, calls, other ? "not the same" : "the same",
           least[3] == 0 ? "intact" : "damaged");
  return class_of(MPI_File_close(&file)) != MPI_SUCCESS;
}

static void* kill_soon(void* milliseconds) {
  const long wait = *(long*)milliseconds;
  const struct timespec time = {wait / 1000, wait % 1000 * 1000000};
  nanosleep(&time, NULL);
  kill(getpid(), SIGKILL);
  return NULL;
}

static void be_killed(const char* name, long milliseconds) {
  MPI_File file = open_file(name);
  pthread_t thread;
  MPI_File_set_atomicity(file, 1);
  MPI_File_write_all(file, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
  if (rank == 0) printf("writing\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) pthread_create(&thread, NULL, kill_soon, &milliseconds);
  for (;;) {
    MPI_File_seek(file, 0, MPI_SEEK_SET);
    MPI_File_write_all(file, data, kBytes, MPI_BYTE, MPI_STATUS_IGNORE);
  }
}

static void open_for_writing(const char* name) {
  MPI_File file = MPI_FILE_NULL;
  const int found =
      class_of(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
  printf("%s\n", found == MPI_ERR_READ_ONLY ? "read only" : found == MPI_SUCCESS ? "open" : "other");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int failed = argc < 3;
  if (argc == 3 && strcmp(argv[1], "fill") == 0) failed = fill(argv[2]);
  if (argc == 4 && strcmp(argv[1], "kill") == 0) be_killed(argv[2], atol(argv[3]));
  if (argc == 3 && strcmp(argv[1], "open") == 0) open_for_writing(argv[2]);
  MPI_Finalize();
  return failed;
}
