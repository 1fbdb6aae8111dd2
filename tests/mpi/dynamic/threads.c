/* Threads of a rank spawn at the same time, in MPI_COMM_SELF; and threads of two ranks accept and connect. */
#include <pthread.h>

#include "check.h"

enum { kThreads = 4, kRounds = 3 };
static const char* program;

static void* spawn(void* number) {
  char text[16];
  char* arguments[] = {text, NULL};
  snprintf(text, sizeof text, "%d", *(int*)number);
  for (int i = 0; i < kRounds; ++i) {
    MPI_Comm inter;
    int answer = -1;
    CHECK_OK(MPI_Comm_spawn(program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Recv(&answer, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(answer, *(int*)number);
    CHECK_OK(MPI_Comm_disconnect(&inter));
  }
  return NULL;
}

static char ports[kThreads][MPI_MAX_PORT_NAME];

static void* accept_one(void* number) {
  MPI_Comm inter;
  int value = *(int*)number, other = -1;
  CHECK_OK(MPI_Comm_accept(ports[value], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
  CHECK_EQ(other, value);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  return NULL;
}

static void* connect_one(void* number) {
  MPI_Comm inter;
  int value = *(int*)number, other = -1;
  CHECK_OK(MPI_Comm_connect(ports[value], MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter));
  CHECK_OK(MPI_Sendrecv(&value, 1, MPI_INT, 0, 0, &other, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
  CHECK_EQ(other, value);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  return NULL;
}

static void in_threads(void* (*function)(void*)) {
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    CHECK_EQ(pthread_create(&threads[i], NULL, function, &numbers[i]), 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  int level;
  MPI_Comm parent;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  CHECK_EQ(level, MPI_THREAD_MULTIPLE);
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    const int number = argc > 1 ? atoi(argv[1]) : -1;
    CHECK_OK(MPI_Send(&number, 1, MPI_INT, 0, 0, parent));
    CHECK_OK(MPI_Comm_disconnect(&parent));
  } else {
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    program = argv[0];
    in_threads(spawn);
    for (int i = 0; i < kThreads && rank == 0; ++i) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, ports[i]));
    CHECK_OK(MPI_Bcast(ports, sizeof ports, MPI_CHAR, 0, MPI_COMM_WORLD));
    if (size == 2) in_threads(rank == 0 ? accept_one : connect_one);
    for (int i = 0; i < kThreads && rank == 0; ++i) CHECK_OK(MPI_Close_port(ports[i]));
  }
  MPI_Finalize();
  return check_result();
}
