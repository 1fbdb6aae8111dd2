// Rank 0 works, for longer than --hang-after allows for a rank that does nothing, while the others wait for
// it in MPI, or test whether it has come: works CASE. Right: the job ends well, and says "done".
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
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

/// The main thread waits in MPI while another one leaves the work to threads that each end soon.
static void* compute_shortly(void* unused) {
  compute(0.004);
  return unused;
}
static void* manage(void* unused) {
  for (const double end = now() + kSlow / 1000.0; now() < end;) {
    pthread_t thread;
    pthread_create(&thread, NULL, compute_shortly, NULL);
    pthread_join(thread, NULL);
  }
  MPI_Send(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_SELF);
  return unused;
}
static void wait_for_short_threads(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, manage, NULL);
  receive(NULL);
  pthread_join(thread, NULL);
}

/// Computes with a core for so long, however many others want it.
static void use_core(double seconds) {
  static volatile double sum;
  struct timespec used;
  do {
    sum += 1;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
  } while ((double)used.tv_sec + 1e-9 * (double)used.tv_nsec < seconds);
}

/// The same with threads that end before the kernel's clock ticks.
static void* compute_briefly(void* unused) {
  use_core(0.0015);
  return unused;
}
static void* manage_brief(void* unused) {
  const struct timespec rest = {0, 10000000};
  for (const double end = now() + kSlow / 1000.0; now() < end; nanosleep(&rest, NULL)) {
    pthread_t thread;
    pthread_create(&thread, NULL, compute_briefly, NULL);
    pthread_join(thread, NULL);
  }
  MPI_Send(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_SELF);
  return unused;
}
static void wait_for_brief_threads(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, manage_brief, NULL);
  receive(NULL);
  pthread_join(thread, NULL);
}

/// The work is done by functions of a timer, for which the C library makes a thread each.
static atomic_int ticks;
static void tick(union sigval unused) {
  (void)unused;
  use_core(0.004);
  if (atomic_fetch_add(&ticks, 1) == kSlow / 25) MPI_Send(NULL, 0, MPI_BYTE, 0, 7, MPI_COMM_SELF);
}
static void wait_for_timer(void) {
  timer_t timer;
  struct sigevent how;
  memset(&how, 0, sizeof how);
  how.sigev_notify = SIGEV_THREAD;
  how.sigev_notify_function = tick;
  const struct itimerspec each = {{0, 25000000}, {0, 25000000}};
  timer_create(CLOCK_MONOTONIC, &how, &timer);
  timer_settime(timer, 0, &each, NULL);
  receive(NULL);
  timer_delete(timer);
}

// A pool of threads, as OpenMP has one: they sleep until there is work, and the main thread waits in MPI
// until one of them has done it.
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work_is_there = PTHREAD_COND_INITIALIZER;
static int has_work;
static void* serve(void* unused) {
  pthread_mutex_lock(&mutex);
  while (has_work == 0) pthread_cond_wait(&work_is_there, &mutex);
  const int is_mine = has_work-- == 3;
  pthread_mutex_unlock(&mutex);
  if (is_mine) compute_and_send(NULL);
  return unused;
}
static void wait_for_pool(void) {
  pthread_t threads[3];
  for (int i = 0; i < 3; ++i) pthread_create(&threads[i], NULL, serve, NULL);
  pthread_mutex_lock(&mutex);
  has_work = 3;
  pthread_cond_broadcast(&work_is_there);
  pthread_mutex_unlock(&mutex);
  receive(NULL);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
}

/// What the main thread waits for is a request that a thread of the rank ends, which does next to nothing
/// else. Between two waits the main thread computes.
static MPI_Request generalized;
static sem_t is_wanted;
static int query(void* unused, MPI_Status* status) {
  (void)unused;
  memset(status, 0, sizeof *status);
  return MPI_SUCCESS;
}
static int release(void* unused) { return (void)unused, MPI_SUCCESS; }
static int cancel(void* unused, int is_complete) { return (void)unused, (void)is_complete, MPI_SUCCESS; }
static void* complete(void* unused) {
  const struct timespec rest = {0, 50000000};
  for (;;) {
    sem_wait(&is_wanted);
    if (generalized == MPI_REQUEST_NULL) return unused;
    nanosleep(&rest, NULL);
    MPI_Grequest_complete(generalized);
  }
}
static void wait_for_generalized(void) {
  pthread_t thread;
  sem_init(&is_wanted, 0, 0);
  pthread_create(&thread, NULL, complete, NULL);
  for (const double end = now() + kSlow / 1000.0; now() < end;) {
    compute(0.005);
    MPI_Grequest_start(query, release, cancel, NULL, &generalized);
    MPI_Request wanted = generalized;
    sem_post(&is_wanted);
    MPI_Wait(&wanted, MPI_STATUS_IGNORE);
  }
  generalized = MPI_REQUEST_NULL;
  sem_post(&is_wanted);
  pthread_join(thread, NULL);
}

static const struct Work {
  const char* name;
  void (*step)(void);   ///< again and again
  void (*whole)(void);  ///< or once
  int others_test;      ///< the other ranks do not sleep
} kWorks[] = {
    {"put", put, NULL, 0},
    {"get", get, NULL, 0},
    {"accumulate", add, NULL, 0},
    {"write", write_file, NULL, 0},
    {"read", read_file, NULL, 0},
    {"pack", pack, NULL, 0},
    {"reduce_local", reduce_local, NULL, 0},
    {"rank", ask_rank, NULL, 0},
    {"computes", nothing, NULL, 0},
    {"slow_write", NULL, write_slowly, 0},
    {"slow_blocking_write", NULL, write_slowly_blocking, 0},
    {"thread_waits", NULL, wait_in_thread, 0},
    {"main_waits", NULL, wait_in_main, 0},
    {"thread_waits_beside_tests", NULL, wait_in_thread, 1},
    {"main_waits_beside_tests", NULL, wait_in_main, 1},
    {"short_threads", NULL, wait_for_short_threads, 0},
    {"brief_threads", NULL, wait_for_brief_threads, 0},
    {"timer", NULL, wait_for_timer, 0},
    {"pool_beside_tests", NULL, wait_for_pool, 1},
    {"generalized_beside_tests", NULL, wait_for_generalized, 1},
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
  MPI_Request all_are_here;
  MPI_Ibarrier(MPI_COMM_WORLD, &all_are_here);
  if (rank != 0 && work->others_test)
    for (int is_over = 0; !is_over; MPI_Test(&all_are_here, &is_over, MPI_STATUS_IGNORE)) compute(0.001);
  MPI_Wait(&all_are_here, MPI_STATUS_IGNORE);
  MPI_File_close(&file);
  MPI_Win_free(&window);
  if (rank == 0) printf("done\n");
  MPI_Finalize();
  return 0;
}
