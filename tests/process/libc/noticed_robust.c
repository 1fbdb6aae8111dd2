// A robust mutex in shared memory, held by a rank that ends. Right: the next one is told (EOWNERDEAD).
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

int main(int argc, char** argv) {
  begin(&argc, &argv);
  make_folder();
  char name[96];
  snprintf(name, sizeof name, "%s.mutex", folder);
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(name, O_CREAT | O_RDWR, 0600);
  check(ftruncate(file, 4096) == 0, "ftruncate: %s", strerror(errno));
  pthread_mutex_t* const mutex = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (rank == 0) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
  }
  step();
  if (rank == 0) unlink(name);
  if (rank == 1) pthread_mutex_lock(mutex);
  step();
  const int result = end();
  if (rank != 0) return result;
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  return pthread_mutex_timedlock(mutex, &limit) == EOWNERDEAD ? result : 4;
}
