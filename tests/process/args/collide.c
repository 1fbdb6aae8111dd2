/* Threads of a rank that are in collective calls of one communicator at the same time: OpenMP programs that
   call MPI_Allreduce inside of a parallel region, one thread per block. MPI-5.0 section 6.14 forbids it.
   Right: of two that are there at a time one gets an error that names both calls, the communicator and the
   way out, and nothing else goes wrong; threads with a communicator each, and those that call one after the
   other, are not disturbed.

   usage: a.out CASE, with 2 ranks or more */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3, ROUNDS = 200 };

static int rank, size, failures;
static pthread_barrier_t together;
static pthread_mutex_t in_turn = PTHREAD_MUTEX_INITIALIZER;
static MPI_Comm own[THREADS], same;

static void fail(const char* what) {
  fprintf(stderr, "rank %d: %s\n", rank, what);
  __atomic_add_fetch(&failures, 1, __ATOMIC_RELAXED);
}

static void check_sum(int code, int sum) {
  if (code != MPI_SUCCESS) fail("an allreduce that nobody disturbs fails");
  if (sum != size * (size + 1) / 2) fail("an allreduce that nobody disturbs has another sum");
}

static void* with_own(void* thread) {
  MPI_Comm comm = own[(long)thread];
  for (int i = 0; i < ROUNDS; ++i) {
    int mine = rank + 1, sum = 0;
    const int code = MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
    check_sum(code, sum);
  }
  return NULL;
}

/* One thread of the rank at a time, whichever it is. All ranks make as many calls. */
static void* one_by_one(void* unused) {
  (void)unused;
  for (int i = 0; i < ROUNDS; ++i) {
    int mine = rank + 1, sum = 0;
    pthread_mutex_lock(&in_turn);
    const int code = MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, same);
    check_sum(code, sum);
    pthread_mutex_unlock(&in_turn);
  }
  return NULL;
}

/* Requests that are under way at the same time are no collision: each thread starts its own, in turn. */
static void* requests_of_several(void* thread) {
  int mine = rank + 1, sum = 0, code = MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  for (long who = 0; who < THREADS; ++who) {
    if (who == (long)thread) code = MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, same, &request);
    pthread_barrier_wait(&together);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check_sum(code, sum);
  return NULL;
}

/* The first thread waits in a barrier to which rank 0 does not come before a message; the second one calls
 * meanwhile. */
static void* late(void* unused) {
  (void)unused;
  while (MPI_Barrier(same) != MPI_SUCCESS) { /* the other thread asks just now whether we are there */
  }
  return NULL;
}

static void collides(int code, const char* call) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0, class = 0;
  if (code == MPI_SUCCESS) return fail("the second of two callers succeeds");
  MPI_Error_class(code, &class);
  MPI_Error_string(code, text, &length);
  if (class != MPI_ERR_OTHER || strncmp(text, call, strlen(call)) != 0 ||
      !strstr(text, "MPI_Barrier on this communicator") || !strstr(text, "MPI_Comm_dup") ||
      !strstr(text, "a name"))
    fail(text);
}

static void two_at_a_time(void) {
  pthread_t thread;
  int mine = 1, sum = 0;
  if (rank == 0) {
    for (int i = 1; i < size; ++i) MPI_Recv(NULL, 0, MPI_INT, i, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (MPI_Barrier(same) != MPI_SUCCESS) fail("a barrier fails");
    return;
  }
  pthread_create(&thread, NULL, late, NULL);
  MPI_Comm copy = same, made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  /* MPI_BAND is not for doubles, which is found out by the caller alone: this waits for nobody. */
  for (int class = MPI_ERR_OP; class == MPI_ERR_OP;) {
    double in = 0, out = 0;
    MPI_Error_class(MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_BAND, same), &class);
  }
  collides(MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, same), "MPI_Allreduce(comm = ");
  collides(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, same, &request), "MPI_Iallreduce(comm = ");
  collides(MPI_Barrier_init(same, MPI_INFO_NULL, &request), "MPI_Barrier_init(comm = ");
  collides(MPI_Comm_dup(same, &made), "MPI_Comm_dup(comm = ");
  collides(MPI_Comm_split(same, 0, 0, &made), "MPI_Comm_split(comm = ");
  collides(MPI_Comm_free(&copy), "MPI_Comm_free(comm = ");
  MPI_Send(NULL, 0, MPI_INT, 0, 5, MPI_COMM_WORLD);
  pthread_join(thread, NULL);
}

/* Errors end the job here, and the report is looked at by the test. */
static void* hammer(void* unused) {
  (void)unused;
  for (int i = 0; i < 500000; ++i) MPI_Barrier(MPI_COMM_WORLD); /* longer than a thread keeps its core */
  return NULL;
}

/* Of the threads that collide, those that get an error go on: nothing may crash, whatever comes of the calls.
   A rank that is left alone in a call would wait for ever, so the job is one rank. */
static void* hammer_alone(void* unused) {
  (void)unused;
  for (int i = 0; i < 5000; ++i) {
    int mine = 1, sum = 0;
    MPI_Comm made = MPI_COMM_NULL;
    const int code = i % 16 == 0 ? MPI_Comm_dup(MPI_COMM_SELF, &made)
                                 : MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
    if (code == MPI_SUCCESS && i % 16 != 0 && sum != 1) fail("an allreduce of one rank has another sum");
    if (made != MPI_COMM_NULL) MPI_Comm_free(&made);
  }
  return NULL;
}

static void in_threads(void* (*work)(void*)) {
  pthread_t threads[THREADS];
  for (long i = 1; i < THREADS; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  work((void*)0);
  for (long i = 1; i < THREADS; ++i) pthread_join(threads[i], NULL);
}

int main(int argc, char** argv) {
  const char* how = argv[argc - 1];
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_barrier_init(&together, NULL, THREADS);
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  MPI_Comm_set_name(same, "a name");
  for (int i = 0; i < THREADS; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &own[i]);
  MPI_Comm_set_errhandler(same, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (strcmp(how, "fatal") == 0) in_threads(hammer);
  if (strcmp(how, "alone") == 0) in_threads(hammer_alone);
  if (strcmp(how, "right") == 0) {
    in_threads(with_own);
    in_threads(one_by_one);
    in_threads(requests_of_several);
  }
  if (strcmp(how, "wrong") == 0) two_at_a_time();
  MPI_Finalize();
  return failures != 0;
}
