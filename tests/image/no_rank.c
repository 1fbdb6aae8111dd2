/* MPI from a thread that belongs to no rank: one that the C library has made by itself, to tell that a name
 * has been looked up. */
#define _GNU_SOURCE
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rank.h"

static void on_answer(union sigval value) {
  int rank = -1;
  (void)value;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  puts("a thread of no rank has called MPI");
}

int main(void) {
  static struct gaicb question = {.ar_name = "127.0.0.1"};
  struct gaicb* questions[] = {&question};
  struct sigevent event;
  begin_rank();
  memset(&event, 0, sizeof event);
  event.sigev_notify = SIGEV_THREAD;
  event.sigev_notify_function = on_answer;
  if (getaddrinfo_a(GAI_NOWAIT, questions, 1, &event) != 0) return 1;
  sleep(10);
  MPI_Finalize();
  return 0;
}
