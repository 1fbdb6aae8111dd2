// Threads of a rank that run while its main() returns. In a process they end with it: they do not see that
// its descriptors are closed, and write to no file that another rank has opened since.
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kFiles = 8 };

static const char line[] = "of rank 0\n";
static int ends[2], sockets[2], polled[2], full[2], direct, by_vector;
static sem_t ready;

#define CHECK(good)                                                   \
  do {                                                                \
    if (!(good)) {                                                    \
      fprintf(stderr, "left_behind.c:%d: not %s\n", __LINE__, #good); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

static void* reads(void* none) {
  char byte;
  sem_post(&ready);
  (void)!read(ends[0], &byte, 1);
  abort();
  return none;
}
static void* receives(void* none) {
  char byte;
  sem_post(&ready);
  (void)!recv(sockets[0], &byte, 1, 0);
  abort();
  return none;
}
static void* polls(void* none) {
  struct pollfd one = {polled[0], POLLIN, 0};
  sem_post(&ready);
  (void)poll(&one, 1, -1);
  abort();
  return none;
}
/// Blocks when the pipe is full.
static void* fills(void* none) {
  static const char bytes[PIPE_BUF];
  sem_post(&ready);
  while (write(full[1], bytes, sizeof bytes) > 0) {
  }
  abort();
  return none;
}
static void* writes(void* none) {
  sem_post(&ready);
  while (write(direct, line, sizeof line - 1) > 0) {
  }
  abort();
  return none;
}
/// By a function of which nothing has to be known.
static void* writes_vectors(void* none) {
  struct iovec part = {(void*)line, sizeof line - 1};
  sem_post(&ready);
  while (pwritev(by_vector, &part, 1, 0) > 0) {
  }
  return none;
}

static void start_threads(void) {
  void* (*const all[])(void*) = {reads, receives, polls, fills, writes, writes_vectors};
  sem_init(&ready, 0, 0);
  CHECK(pipe(ends) == 0 && pipe(polled) == 0 && pipe(full) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
  CHECK((direct = open("/dev/null", O_WRONLY)) > 2 && (by_vector = open("/dev/null", O_WRONLY)) > 2);
  for (unsigned i = 0; i < sizeof all / sizeof *all; ++i) {
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, all[i], NULL) == 0 && pthread_detach(thread) == 0);
    sem_wait(&ready);
  }
}

static void check_files(void) {
  int files[kFiles];
  for (int i = 0; i < kFiles; ++i) {
    char path[] = "/tmp/clump-left-behind-XXXXXX";
    CHECK((files[i] = mkstemp(path)) > 2 && unlink(path) == 0);
  }
  usleep(200000);
  for (int i = 0; i < kFiles; ++i) {
    struct stat status;
    CHECK(fstat(files[i], &status) == 0 && status.st_size == 0);
  }
}

int main(int argc, char** argv) {
  char path[64] = "";
  int rank, fifo;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    snprintf(path, sizeof path, "/tmp/clump-left-behind-%ld", (long)getpid());
    CHECK(mkfifo(path, 0600) == 0);
  }
  MPI_Bcast(path, sizeof path, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) start_threads();
  if (rank < 2) CHECK((fifo = open(path, rank == 0 ? O_WRONLY : O_RDONLY)) > 2);
  MPI_Finalize();
  if (rank != 1) return 0;
  // What rank 0 has is closed although its threads are left.
  char byte;
  CHECK(unlink(path) == 0 && read(fifo, &byte, 1) == 0);
  check_files();
  return 0;
}
