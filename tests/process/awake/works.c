// Rank 0 works, for longer than --hang-after allows for a rank that does nothing, while the others wait for
// it in MPI: works CASE. Right: the job ends well, and says "done".
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { kBytes = 1 << 10, kSlow = 2500 };

static char buffer[kBytes], other[kBytes];
static MPI_Win window;
static MPI_File file;
static int rank, is_slow;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/// Computes with a part of the core, as other tests run beside this one.
static void compute(double seconds) {
  static volatile double sum;
  const struct timespec rest = {0, 10000000};
  for (const double end = now() + seconds; now() < end;) sum += 1;
  nanosleep(&rest, NULL);
}

// A slow disk: the library's writes come here.
__attribute__((visibility("default"))) ssize_t pwrite(int descriptor, const void* from, size_t bytes,
                                                      off_t offset) {
  const struct timespec slow = {kSlow / 1000, kSlow % 1000 * 1000000L};
  if (is_slow) syscall(SYS_nanosleep, &slow, NULL);
  return syscall(SYS_pwrite64, descriptor, from, bytes, offset);
}

static void put(void) {
  MPI_Put(buffer, kBytes, MPI_BYTE, 1, 0, kBytes, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
static void get(void) {
  MPI_Get(buffer, kBytes, MPI_BYTE, 1, 0, kBytes, MPI_BYTE, window);
  MPI_Win_flush(1, window);
}
static void add(void) {
  MPI_Accumulate(buffer, kBytes / 4, MPI_INT, 1, 0, kBytes / 4, MPI_INT, MPI_SUM, window);
  MPI_Win_flush(1, window);
}
static void write_file(void) { MPI_File_write_at(file, 0, buffer, kBytes, MPI_BYTE, MPI_STATUS_IGNORE); }
static void read_file(void) { MPI_File_read_at(file, 0, buffer, kBytes, MPI_BYTE, MPI_STATUS_IGNORE); }
static void pack(void) {
  int position = 0;
  MPI_Pack(buffer, kBytes / 2, MPI_BYTE, other, kBytes, &position, MPI_COMM_SELF);
}
static void reduce_local(void) { MPI_Reduce_local(buffer, other, kBytes / 4, MPI_INT, MPI_SUM); }
static void ask_rank(void) { MPI_Comm_rank(MPI_COMM_WORLD, &rank); }
static void nothing(void) {}

static void write_slowly(void) {
  MPI_Request request;
  is_slow = 1;
  MPI_File_iwrite_at(file, 0, buffer, kBytes, MPI_BYTE, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  is_slow = 0;
}
static void write_slowly_blocking(void) {
  is_slow = 1;
  write_file();
  is_slow = 0;
}

static void* receive(void* unused) {
  MPI_Recv(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  return unused;
}
static void* compute_and_send(void* unused) {
  for (const double end = now() + kSlow / 1000.0; now() < end;) compute(0.005);
  MPI_Send(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_SELF);
  return unused;
}
/// A thread of the rank waits in MPI while another one computes.
static void wait_in_thread(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, receive, NULL);
  compute_and_send(NULL);
  pthread_join(thread, NULL);
}
static void wait_in_main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, compute_and_send, NULL);
  receive(NULL);
  pthread_join(thread, NULL);
}

static const struct Work {
  const char* name;
  void (*step)(void);   ///< again and again
  void (*whole)(void);  ///< or once
} kWorks[] = {
    {"put", put, NULL},
    {"get", get, NULL},
    {"accumulate", add, NULL},
    {"write", write_file, NULL},
    {"read", read_file, NULL},
    {"pack", pack, NULL},
    {"reduce_local", reduce_local, NULL},
    {"rank", ask_rank, NULL},
    {"computes", nothing, NULL},
    {"slow_write", NULL, write_slowly},
    {"slow_blocking_write", NULL, write_slowly_blocking},
    {"thread_waits", NULL, wait_in_thread},
    {"main_waits", NULL, wait_in_main},
};

int main(int argc, char** argv) {
  const struct Work* work = NULL;
  for (size_t i = 0; i < sizeof kWorks / sizeof kWorks[0]; ++i)
    if (argc > 1 && strcmp(kWorks[i].name, argv[1]) == 0) work = &kWorks[i];
  if (work == NULL) return 9;
  int given = 0;
  char name[64];
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "works.%s.%ld.%d", work->name, (long)getpid(), rank);
  MPI_Win_create(other, kBytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                MPI_INFO_NULL, &file);
  if (rank == 0) {
    MPI_Win_lock_all(0, window);
    if (work->whole != NULL) work->whole();
    for (const double end = now() + kSlow / 1000.0; work->step != NULL && now() < end;) {
      compute(0.001);
      work->step();
    }
    MPI_Win_unlock_all(window);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_File_close(&file);
  MPI_Win_free(&window);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
