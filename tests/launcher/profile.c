/* Calls that a profile must count exactly, and ends that it must survive: profile CASE, with 4 ranks or
   more. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int rank, size;
static char buffer[1 << 20], other[1 << 20];

static int to(int distance) { return (rank + distance + size) % size; }

static void pass_seconds(double seconds) {
  struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  nanosleep(&left, NULL);
}

static void compute_seconds(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
}

/* To the next rank: 3 x 400 bytes blocking, 2 x 80 bytes non-blocking, 5 x 16 persistent, 1 x 0 synchronous,
   1 x 100000 buffered; to the one after that: 1 byte by MPI_Sendrecv; to nobody: 1. */
static void messages(void) {
  MPI_Request all[4], start[2];
  for (int i = 0; i < 3; ++i) {
    MPI_Irecv(other, 100, MPI_INT, to(-1), i, MPI_COMM_WORLD, &all[0]);
    MPI_Send(buffer, 100, MPI_INT, to(1), i, MPI_COMM_WORLD);
    MPI_Wait(&all[0], MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Irecv(other + 1000 * i, 10, MPI_DOUBLE, to(-1), 5, MPI_COMM_WORLD, &all[i]);
  for (int i = 0; i < 2; ++i) MPI_Isend(buffer, 10, MPI_DOUBLE, to(1), 5, MPI_COMM_WORLD, &all[2 + i]);
  MPI_Waitall(4, all, MPI_STATUSES_IGNORE);
  MPI_Recv_init(other, 4, MPI_FLOAT, to(-1), 6, MPI_COMM_WORLD, &start[0]);
  MPI_Send_init(buffer, 4, MPI_FLOAT, to(1), 6, MPI_COMM_WORLD, &start[1]);
  for (int i = 0; i < 5; ++i) {
    MPI_Startall(2, start);
    MPI_Waitall(2, start, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&start[i]);
  MPI_Irecv(other, 0, MPI_INT, to(-1), 7, MPI_COMM_WORLD, &all[0]);
  MPI_Ssend(buffer, 0, MPI_INT, to(1), 7, MPI_COMM_WORLD);
  MPI_Wait(&all[0], MPI_STATUS_IGNORE);
  MPI_Buffer_attach(malloc(200000), 200000);
  MPI_Bsend(buffer, 100000, MPI_BYTE, to(1), 8, MPI_COMM_WORLD);
  MPI_Recv(other, 100000, MPI_BYTE, to(-1), 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Sendrecv(buffer, 1, MPI_CHAR, to(2), 9, other, 1, MPI_CHAR, to(-2), 9, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Send(buffer, 1, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void collectives(void) {
  double in[4] = {0}, out[4];
  MPI_Request request;
  for (int i = 0; i < 4; ++i) MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) MPI_Bcast(buffer, 1000, MPI_BYTE, 1, MPI_COMM_WORLD);
  for (int i = 0; i < 3; ++i) MPI_Allreduce(in, out, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Iallreduce(in, out, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Alltoall(buffer, 8, MPI_BYTE, other, 8, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Gather(buffer, 3, MPI_INT, other, 3, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Scatter_c(buffer, 5, MPI_BYTE, other, 5, MPI_BYTE, 2, MPI_COMM_WORLD);
}

static void flood(void) {
  for (int i = 0; i < 150000; ++i) MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static void* send_many(void* tag) {
  for (int i = 0; i < 1000; ++i)
    MPI_Sendrecv(buffer, 8, MPI_BYTE, to(1), *(int*)tag, other, 8, MPI_BYTE, to(-1), *(int*)tag,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return NULL;
}

static void threads(void) {
  pthread_t made[2];
  int tags[] = {1, 2, 3};
  for (int i = 0; i < 2; ++i) pthread_create(&made[i], NULL, send_many, &tags[i]);
  send_many(&tags[2]);
  for (int i = 0; i < 2; ++i) pthread_join(made[i], NULL);
}

static void* call_once(void* none) {
  int own;
  MPI_Comm_rank(MPI_COMM_WORLD, &own);
  return none;
}

/* Rank 0 has nine threads, all there at the same time, which end; then it waits for rank 1. */
static pthread_barrier_t all_there;
static void* call_together(void* none) {
  call_once(none);
  pthread_barrier_wait(&all_there);
  return none;
}
static void short_threads(void) {
  pthread_t made[9];
  pthread_barrier_init(&all_there, NULL, 9);
  for (int i = 0; rank == 0 && i < 9; ++i) pthread_create(&made[i], NULL, call_together, NULL);
  for (int i = 0; rank == 0 && i < 9; ++i) pthread_join(made[i], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(buffer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) pass_seconds(0.6);
  if (rank != 0) MPI_Send(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

/* Two threads of rank 0 send in turn; the main thread sends first. */
static pthread_barrier_t turn;
static void* send_second(void* none) {
  for (int i = 0; i < 5; ++i) {
    pthread_barrier_wait(&turn);
    MPI_Send(buffer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    pthread_barrier_wait(&turn);
  }
  return none;
}
static void turns(void) {
  pthread_t made;
  if (rank == 1) {
    for (int i = 0; i < 10; ++i) MPI_Recv(buffer, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  pthread_barrier_init(&turn, NULL, 2);
  pthread_create(&made, NULL, send_second, NULL);
  for (int i = 0; i < 5; ++i) {
    MPI_Send(buffer, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    pthread_barrier_wait(&turn);
    pthread_barrier_wait(&turn);
  }
  pthread_join(made, NULL);
}

/* Messages of one size in streams that the trace knows in part, and one that it knows (tag 2). */
static void unknown_messages(MPI_Comm comm, int all_at_once) {
  MPI_Request started[2], request;
  if (rank == 0) {
    for (int i = 0; i < 2; ++i) MPI_Send_init(buffer, 1, MPI_INT, 1, 2 * i, comm, &started[i]);
    if (all_at_once)
      MPI_Startall(2, started);
    else
      MPI_Start(&started[0]);
    MPI_Send(buffer, 1, MPI_INT, 1, 0, comm);
    if (!all_at_once) MPI_Start(&started[1]);
    MPI_Waitall(2, started, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) MPI_Request_free(&started[i]);
  } else {
    MPI_Recv(buffer, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Irecv(buffer, 1, MPI_INT, 0, 0, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, 1, MPI_INT, 0, 2, comm, MPI_STATUS_IGNORE);
  }
}

static void sum_slowly(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank); /* a call inside of a call is part of it */
  for (int i = 0; i < *length; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

static void callbacks(void) {
  MPI_Op op;
  MPI_Op_create(sum_slowly, 1, &op);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(buffer, other, 1, MPI_INT, op, MPI_COMM_WORLD);
  MPI_Op_free(&op);
}

/* Rank 1 waits 0.9 s for rank 0, in a receive from anybody, rank 3 for rank 2, in MPI_Waitall; then all wait
   for rank 2 in a barrier, and rank 3 once more, in a probe. */
static void waits(void) {
  MPI_Request request;
  MPI_Pcontrol(0); /* processes start one after the other */
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Pcontrol(1);
  if (rank % 2 == 0 && rank < 4) {
    pass_seconds(0.9);
    MPI_Send(buffer, 1, MPI_INT, rank + 1, 0, MPI_COMM_WORLD);
  } else if (rank == 1) {
    MPI_Recv(buffer, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else if (rank == 3) {
    MPI_Irecv(buffer, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &request);
    MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) pass_seconds(0.9);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 2) {
    pass_seconds(0.7);
    MPI_Send(buffer, 1, MPI_INT, 3, 0, MPI_COMM_WORLD);
  } else if (rank == 3) {
    MPI_Probe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(buffer, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void control(void) {
  MPI_Pcontrol(0);
  MPI_Sendrecv(buffer, 1, MPI_INT, to(1), 0, other, 1, MPI_INT, to(-1), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pass_seconds(2);
  MPI_Pcontrol(1);
  MPI_Sendrecv(buffer, 1, MPI_DOUBLE, to(1), 0, other, 1, MPI_DOUBLE, to(-1), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Pcontrol(2);
  MPI_Sendrecv(buffer, 1, MPI_DOUBLE, to(1), 0, other, 1, MPI_DOUBLE, to(-1), 0, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  MPI_Pcontrol(0);
}

static void fail(const char* how) {
  MPI_Sendrecv(buffer, 2, MPI_INT, to(1), 0, other, 2, MPI_INT, to(-1), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 1) MPI_Recv(buffer, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pass_seconds(0.2);
  if (strcmp(how, "abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  MPI_Recv(buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); /* deadlock */
}

static void session(void) {
  MPI_Session made;
  MPI_Group group;
  MPI_Comm comm;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_from_session_pset(made, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "profile", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(buffer, 3, MPI_INT, to(1), 0, other, 3, MPI_INT, to(-1), 0, comm, MPI_STATUS_IGNORE);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&made);
}

/* Each rank computes for the same time, if it has a core: three times some 60 ms on a core of 2020. */
static void crowd(void) {
  volatile double sum = 0;
  for (int round = 0; round < 3; ++round) {
    double x = rank;
    for (int i = 0; i < 20000000; ++i) x = x * 0.999999 + 1e-6;
    sum = sum + x;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* how = argv[argc - 1];
  int provided;
  if (strcmp(how, "session") == 0) return session(), 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(how, "messages") == 0) messages();
  if (strcmp(how, "collectives") == 0) collectives();
  if (strcmp(how, "flood") == 0) flood();
  if (strcmp(how, "threads") == 0) threads();
  if (strcmp(how, "short_threads") == 0) short_threads();
  if (strcmp(how, "turns") == 0) turns();
  if (strcmp(how, "start") == 0) unknown_messages(MPI_COMM_WORLD, 0);
  if (strcmp(how, "startall") == 0) unknown_messages(MPI_COMM_WORLD, 1);
  if (strcmp(how, "callbacks") == 0) callbacks();
  if (strcmp(how, "waits") == 0) waits();
  if (strcmp(how, "control") == 0) control();
  if (strcmp(how, "crowd") == 0) crowd();
  if (strcmp(how, "compute") == 0) compute_seconds(rank == 2 ? 0.4 : 0.2);
  if (strcmp(how, "abort") == 0 || strcmp(how, "kill") == 0 || strcmp(how, "deadlock") == 0) fail(how);
  MPI_Finalize();
  return 0;
}
