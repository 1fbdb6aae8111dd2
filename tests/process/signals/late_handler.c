// A thread installs a handler, and sends its signal to the main thread, which waits in MPI already: the
// handler runs there, in the middle of the wait. For: programs whose threads set up the handling of signals.
#include <pthread.h>

#include "check.h"

static volatile sig_atomic_t handled;
static pthread_t main_thread, handled_by;
static void handle(int number) {
  (void)number;
  handled_by = pthread_self();
  handled = 1;
}

static void* install_and_signal(void* argument) {
  (void)argument;
  usleep(20000);  // until the main thread sleeps; if it sleeps later, nothing is wrong
  install(SIGUSR1, handle, SA_RESTART);
  CHECK(pthread_kill(main_thread, SIGUSR1) == 0);
  for (int i = 0; i < 20000 && !handled; ++i) usleep(1000);
  CHECK(handled);
  MPI_Send(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  main_thread = pthread_self();
  pthread_t thread;
  CHECK(pthread_create(&thread, NULL, install_and_signal, NULL) == 0);
  MPI_Recv(NULL, 0, MPI_BYTE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK(handled && pthread_equal(handled_by, main_thread));
  pthread_join(thread, NULL);
  return end();
}
