/* Two ranks connect to each other's ports at the same time: what each has accepted is the other end of what
 * the other one has connected. Processes number their questions by themselves, so both have the same number.
 */
#include <pthread.h>

#include "check.h"

enum { ROUNDS = 30 };
static char own[MPI_MAX_PORT_NAME], others[MPI_MAX_PORT_NAME];
static MPI_Comm accepted, connected;

static void* accept_one(void* unused) {
  (void)unused;
  CHECK_OK(MPI_Comm_accept(own, MPI_INFO_NULL, 0, MPI_COMM_SELF, &accepted));
  return NULL;
}

static void* connect_one(void* unused) {
  (void)unused;
  CHECK_OK(MPI_Comm_connect(others, MPI_INFO_NULL, 0, MPI_COMM_SELF, &connected));
  return NULL;
}

static void in_a_round(int rank) {
  pthread_t threads[2];
  MPI_Request requests[4];
  const int to_client = 100 + rank, to_server = 200 + rank;
  int from_client = -1, from_server = -1;
  CHECK_EQ(pthread_create(&threads[0], NULL, accept_one, NULL), 0);
  CHECK_EQ(pthread_create(&threads[1], NULL, connect_one, NULL), 0);
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  if (check_failures > 0) MPI_Abort(MPI_COMM_WORLD, 1); /* the next calls would hang */
  MPI_Irecv(&from_client, 1, MPI_INT, 0, 0, accepted, &requests[0]);
  MPI_Irecv(&from_server, 1, MPI_INT, 0, 0, connected, &requests[1]);
  MPI_Isend(&to_client, 1, MPI_INT, 0, 0, accepted, &requests[2]);
  MPI_Isend(&to_server, 1, MPI_INT, 0, 0, connected, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  CHECK_EQ(from_client, 200 + 1 - rank);
  CHECK_EQ(from_server, 100 + 1 - rank);
  if (check_failures > 0) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Comm* const first = rank == 0 ? &accepted : &connected;
  MPI_Comm* const second = rank == 0 ? &connected : &accepted;
  CHECK_OK(MPI_Comm_disconnect(first));
  CHECK_OK(MPI_Comm_disconnect(second));
}

int main(int argc, char** argv) {
  int level, rank;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_OK(MPI_Open_port(MPI_INFO_NULL, own));
  MPI_Sendrecv(own, sizeof own, MPI_CHAR, 1 - rank, 0, others, sizeof others, MPI_CHAR, 1 - rank, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int round = 0; round < ROUNDS; ++round) in_a_round(rank);
  CHECK_OK(MPI_Close_port(own));
  MPI_Finalize();
  return check_result();
}
