// The C library's threads for SIGEV_THREAD, of queues whose programs are processes: queues CASE. A function
// that one of them begins wakes rank 0. Right: the job is left alone meanwhile, says "woken", and then ends
// as a deadlock, although such a thread stays, or ends later than all else.
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <mqueue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kMain = 1, kNever = 2 };

static void send_to_main(union sigval unused) {
  (void)unused;
  MPI_Send(NULL, 0, MPI_BYTE, 0, kMain, MPI_COMM_WORLD);
}
static const struct sigevent kEvent = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = send_to_main};

/// A message that another process, which is no child, sends after a time.
static void notification(void) {
  struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 8};
  const struct timespec delay = {2, 500000000};
  char name[64];
  snprintf(name, sizeof name, "/clump.queues.%ld", (long)getpid());
  const mqd_t queue = mq_open(name, O_RDWR | O_CREAT | O_EXCL, 0600, &attributes);
  mq_unlink(name);
  if (queue == (mqd_t)-1 || mq_notify(queue, &kEvent) != 0) exit(2);
  const pid_t between = fork();
  if (between == 0) {
    if (fork() == 0) _exit(nanosleep(&delay, NULL) == 0 && mq_send(queue, "x", 1, 0) == 0 ? 0 : 3);
    _exit(0);
  }
  while (waitpid(between, NULL, 0) < 0 && errno == EINTR) {
  }
}

/// The threads for asynchronous files end after a second without work.
static void written_file(void) {
  static char data[64];
  static struct aiocb block;
  char name[] = "queues.XXXXXX";
  const int file = mkstemp(name);
  unlink(name);
  block =
      (struct aiocb){.aio_fildes = file, .aio_buf = data, .aio_nbytes = sizeof data, .aio_sigevent = kEvent};
  if (aio_write(&block) != 0) exit(2);
}

static const struct Queue {
  const char* name;
  void (*begin)(void);
} kQueues[] = {
    {"notification", notification},
    {"written_file", written_file},
};

int main(int argc, char** argv) {
  const struct Queue* queue = NULL;
  for (size_t i = 0; i < sizeof kQueues / sizeof kQueues[0]; ++i)
    if (argc > 1 && strcmp(kQueues[i].name, argv[1]) == 0) queue = &kQueues[i];
  if (queue == NULL) return 9;
  int given = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    queue->begin();
    MPI_Recv(NULL, 0, MPI_BYTE, 0, kMain, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("woken\n");
    fflush(stdout);
  }
  MPI_Recv(NULL, 0, MPI_BYTE, rank, kNever, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return 0;
}
