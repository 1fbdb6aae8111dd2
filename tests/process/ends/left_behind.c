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
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum { kFiles = 8 };

static const char line[] = "of rank 0\n";
static int ends[2], sockets[2], polled[2], full[2], direct, by_vector;
static sem_t ready;
static volatile int* seen; /* of both ranks, whatever they are */

#define CHECK(good)                                                   \
  do {                                                                \
    if (!(good)) {                                                    \
      fprintf(stderr, "left_behind.c:%d: not %s\n", __LINE__, #good); \
      exit(1);                                                        \
    }                                                                 \
  } while (0)

/// A thread that sees what comes after the end of its rank. Rank 1 tells.
static void* goes_on(void* none) {
  *seen = 1;
  return none;
}
static void* reads(void* none) {
  char byte;
  sem_post(&ready);
  (void)!read(ends[0], &byte, 1);
  return goes_on(none);
}
static void* receives(void* none) {
  char byte;
  sem_post(&ready);
  (void)!recv(sockets[0], &byte, 1, 0);
  return goes_on(none);
}
static void* receives_from(void* none) {
  char byte;
  sem_post(&ready);
  (void)!recvfrom(sockets[0], &byte, 1, 0, NULL, NULL);
  return goes_on(none);
}
static void* waits_for_events(void* none) {
  struct epoll_event event = {.events = EPOLLIN};
  const int set = epoll_create1(0);
  CHECK(epoll_ctl(set, EPOLL_CTL_ADD, polled[0], &event) == 0);
  sem_post(&ready);
  (void)epoll_wait(set, &event, 1, -1);
  return goes_on(none);
}
static void* polls(void* none) {
  struct pollfd one = {polled[0], POLLIN, 0};
  sem_post(&ready);
  (void)poll(&one, 1, -1);
  return goes_on(none);
}
/// Blocks when the pipe is full.
static void* fills(void* none) {
  static const char bytes[PIPE_BUF];
  sem_post(&ready);
  while (write(full[1], bytes, sizeof bytes) > 0) {
  }
  return goes_on(none);
}
static void* writes(void* none) {
  sem_post(&ready);
  while (write(direct, line, sizeof line - 1) > 0) {
  }
  return goes_on(none);
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
  void* (*const all[])(void*) = {reads, receives, receives_from, waits_for_events,
                                 polls, fills,    writes,        writes_vectors};
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
  char shared[80];
  snprintf(shared, sizeof shared, "%s.seen", path);
  if (rank < 2) {
    const int file = open(shared, O_RDWR | O_CREAT, 0600);
    CHECK(file > 2 && ftruncate(file, sizeof *seen) == 0);
    seen = mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(seen != MAP_FAILED && close(file) == 0);
  }
  if (rank == 0) start_threads();
  if (rank < 2) CHECK((fifo = open(path, rank == 0 ? O_WRONLY : O_RDONLY)) > 2);
  MPI_Finalize();
  if (rank != 1) return 0;
  // What rank 0 has is closed although its threads are left.
  char byte;
  CHECK(unlink(path) == 0 && read(fifo, &byte, 1) == 0);
  check_files();
  CHECK(unlink(shared) == 0 && *seen == 0);
  return 0;
}
