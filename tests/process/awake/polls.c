// All ranks ask again and again for what never comes: polls CASE. Right: --hang-after ends the job.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static MPI_Request request;
static int is_there, index_of, count;

static void test(void) { MPI_Test(&request, &is_there, MPI_STATUS_IGNORE); }
static void test_all(void) { MPI_Testall(1, &request, &is_there, MPI_STATUSES_IGNORE); }
static void test_any(void) { MPI_Testany(1, &request, &index_of, &is_there, MPI_STATUS_IGNORE); }
static void test_some(void) { MPI_Testsome(1, &request, &count, &index_of, MPI_STATUSES_IGNORE); }
static void get_status(void) { MPI_Request_get_status(request, &is_there, MPI_STATUS_IGNORE); }
static void probe(void) { MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &is_there, MPI_STATUS_IGNORE); }
static void matched_probe(void) {
  MPI_Message message;
  MPI_Improbe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &is_there, &message, MPI_STATUS_IGNORE);
}
/// What asks for other things as well is no different.
static void mixed(void) {
  int rank;
  probe();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

static const struct Poll {
  const char* name;
  void (*call)(void);
} kPolls[] = {
    {"test", test},
    {"testall", test_all},
    {"testany", test_any},
    {"testsome", test_some},
    {"get_status", get_status},
    {"iprobe", probe},
    {"improbe", matched_probe},
    {"mixed", mixed},
};

int main(int argc, char** argv) {
  const struct Poll* poll = NULL;
  for (size_t i = 0; i < sizeof kPolls / sizeof kPolls[0]; ++i)
    if (argc > 1 && strcmp(kPolls[i].name, argv[1]) == 0) poll = &kPolls[i];
  if (poll == NULL) return 9;
  int byte;
  MPI_Init(&argc, &argv);
  MPI_Irecv(&byte, 1, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &request);
  for (;;) {
    poll->call();
    usleep(1000);  // other tests run beside this one
  }
}
