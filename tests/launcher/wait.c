/* Ranks that wait for what never comes, and ranks that only seem to: wait HOW. */
#include <mpi.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static int rank, size, one = 1, two;

static void* receive_later(void* unused) {
  (void)unused;
  usleep(300000); /* asleep, but not in MPI: it will send */
  MPI_Send(&one, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD);
  return NULL;
}

static void* receive_never(void* unused) {
  (void)unused;
  MPI_Recv(&two, 1, MPI_INT, rank, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void keep_second(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)in, (void)inout, (void)length, (void)type;
}

/* A collective is in flight, and rank 0 never takes part in it. */
static void wait_in_flight(MPI_Op op) {
  MPI_Request request;
  if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&one, &two, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  const char* how = argv[argc - 1];
  int provided;
  pthread_t thread;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(how, "cycle") == 0)
    MPI_Recv(&two, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "unreceived") == 0 && rank == 0) MPI_Ssend(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
  if (strcmp(how, "missing") == 0) {
    if (rank == 0) MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Allreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (strcmp(how, "in-flight") == 0) wait_in_flight(MPI_SUM);
  if (strcmp(how, "callback") == 0) {
    MPI_Op op;
    MPI_Op_create(keep_second, 0, &op);
    wait_in_flight(op);
  }
  if (strcmp(how, "probe") == 0 && rank == 1) MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "ended") == 0 && rank == 0)
    MPI_Recv(&two, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (strcmp(how, "threads") == 0) {
    pthread_create(&thread, NULL, receive_never, NULL);
    MPI_Recv(&two, 1, MPI_INT, rank, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  /* These two end well. */
  if (strcmp(how, "sleeper") == 0) {
    if (rank == 0) sleep(1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (strcmp(how, "sleeping-thread") == 0) {
    pthread_create(&thread, NULL, receive_later, NULL);
    MPI_Recv(&two, 1, MPI_INT, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(thread, NULL);
  }
  MPI_Finalize();
  return 0;
}
