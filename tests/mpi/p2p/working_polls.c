/* Ranks that work between polls that find nothing keep their cores, however many share one: were a core given
   away in each poll, a poll would cost a switch of processes. The kernel counts the switches. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "check.h"

enum { KINDS = 8, POLLS = 2500 };

/* Of the rank's process; of the rank alone where ranks are kernel threads, whose switches would add up. */
static long switches(void) {
  const char* scheduler = getenv("CLUMP_SCHEDULER");
  const int whose = scheduler != NULL && strcmp(scheduler, "threads") == 0 ? RUSAGE_THREAD : RUSAGE_SELF;
  struct rusage usage;
  CHECK_EQ(getrusage(whose, &usage), 0);
  return usage.ru_nvcsw + usage.ru_nivcsw;
}

/* How many ranks those switches are of. */
static int counted_ranks(int size) {
  const char *scheduler = getenv("CLUMP_SCHEDULER"), *ranks = getenv("CLUMP_RANKS"), *each = getenv("CLUMP_PER_PROCESS");
  if (scheduler != NULL && strcmp(scheduler, "threads") == 0) return 1;
  if (ranks != NULL && strcmp(ranks, "processes") == 0) return 1;
  return each != NULL ? atoi(each) : size;
}

static void work(void) {
  volatile double x = 1;
  for (int i = 0; i < 200; ++i) x = x * 1.0000001;
}

/* One poll that finds nothing. */
static void poll(int kind, MPI_Request* request) {
  int flag = -1, index = -1, count = -1;
  MPI_Status status;
  MPI_Message message;
  switch (kind) {
    case 0: CHECK_OK(MPI_Test(request, &flag, &status)); break;
    case 1: CHECK_OK(MPI_Testany(1, request, &index, &flag, &status)); break;
    case 2: CHECK_OK(MPI_Testall(1, request, &flag, &status)); break;
    case 3: CHECK_OK(MPI_Testsome(1, request, &count, &index, &status)); break;
    case 4: CHECK_OK(MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &status)); break;
    case 5: CHECK_OK(MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &message, &status)); break;
    case 6: CHECK_OK(MPI_Request_get_status(*request, &flag, &status)); break;
    default: CHECK_OK(MPI_Request_get_status_any(1, request, &index, &flag, &status)); break;
  }
  CHECK_EQ(kind == 3 ? count : flag, 0);
}

int main(int argc, char** argv) {
  int rank, size, value = -1;
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  CHECK_OK(MPI_Irecv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &request));
  for (int kind = 0; kind < KINDS; ++kind) {
    MPI_Barrier(MPI_COMM_WORLD);
    const long before = switches();
    for (int i = 0; i < POLLS; ++i) {
      poll(kind, &request);
      work();
    }
    const long after = switches();
    if (after - before > counted_ranks(size) * POLLS / 2)
      CHECK_FAILED("%d polls of kind %d with work between them have taken %ld switches", POLLS, kind,
                   after - before);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 1, MPI_COMM_WORLD));
  for (int flag = 0; !flag;) CHECK_OK(MPI_Test(&request, &flag, MPI_STATUS_IGNORE));
  CHECK_EQ(value, (rank + size - 1) % size);
  MPI_Finalize();
  return check_result();
}
