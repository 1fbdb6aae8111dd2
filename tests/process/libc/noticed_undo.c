// A semaphore that a rank has taken with SEM_UNDO, and not given back when it ends. Right: the kernel gives it back.
#include "check.h"

#include <sys/sem.h>
#include <time.h>

int main(int argc, char** argv) {
  begin(&argc, &argv);
  int set = 0;
  if (rank == 0) {
    set = semget(IPC_PRIVATE, 1, 0600 | IPC_CREAT);
    semctl(set, 0, SETVAL, 1);
  }
  MPI_Bcast(&set, 1, MPI_INT, 0, MPI_COMM_WORLD);
  struct sembuf take = {0, -1, SEM_UNDO};
  if (rank == 1) check(semop(set, &take, 1) == 0, "semop: %s", strerror(errno));
  step();
  const int result = end();
  if (rank != 0) return result;
  const struct timespec limit = {20, 0};
  const int taken = semtimedop(set, &take, 1, &limit);
  semctl(set, 0, IPC_RMID);
  return taken == 0 ? result : 4;
}
