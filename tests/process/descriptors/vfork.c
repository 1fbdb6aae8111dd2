// What a child of vfork() closes, opens and duplicates is its own, although it has its parent's memory: the
// descriptors and record locks of all ranks stay as they are.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kFiles = 40, kRounds = 5 };

static int rank, files[kFiles], locked, failures;

static void check(int holds, const char* what) {
  if (!holds) fprintf(stderr, "rank %d: not %s\n", rank, what), ++failures;
}

static void change_everything(int kept) {
  for (int number = 3; number < 200; ++number) (void)close(number);
  for (int i = 0; i < kFiles; ++i) {
    DIR* const directory = opendir("/");
    FILE* const stream = fopen("/dev/null", "r");
    if (directory == NULL || stream == NULL || closedir(directory) != 0 || fclose(stream) != 0) _exit(1);
    (void)open("/dev/null", O_RDONLY);
  }
  for (int number = 50; number < 60; ++number) (void)dup2(kept, number);
  (void)fcntl(kept, F_DUPFD, 3);
}

static void lock(short type) {
  struct flock all = {.l_type = type, .l_whence = SEEK_SET};
  check(fcntl(locked, F_SETLK, &all) == 0, "a record lock");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  char path[64] = "";
  if (rank == 0) {
    snprintf(path, sizeof path, "/tmp/clump-vfork-%ld", (long)getpid());
    check(close(open(path, O_CREAT | O_RDWR, 0600)) == 0, "a file");
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  locked = open(path, O_RDWR);
  if (rank == 0) lock(F_WRLCK);
  for (int i = 0; i < kFiles; ++i) check((files[i] = open("/dev/zero", O_RDONLY)) > 2, "a descriptor");
  for (int round = 0; round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const pid_t child = vfork();
    if (child == 0) {
      change_everything(1);
      _exit(0);
    }
    int status = -1;
    check(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the end of a child");
    MPI_Barrier(MPI_COMM_WORLD);
    char byte = 1;
    for (int i = 0; i < kFiles; ++i) check(read(files[i], &byte, 1) == 1, "open");
    if (rank != 0) {
      struct flock found = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
      check(fcntl(locked, F_GETLK, &found) == 0 && found.l_type == F_WRLCK, "locked by rank 0");
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
  // Each number still belongs to its rank.
  if (rank == 0)
    for (int number = 3; number < 300; ++number) (void)close(number);
  MPI_Barrier(MPI_COMM_WORLD);
  char byte;
  for (int i = 0; rank != 0 && i < kFiles; ++i) check(read(files[i], &byte, 1) == 1, "still open");
  MPI_Finalize();
  return failures != 0;
}
