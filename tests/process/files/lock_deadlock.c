// Two ranks that wait for each other's record locks: one of them gets EDEADLK, as processes do, and the other
// one the lock. In a ring of all ranks too, and when both want to write what both have locked for reading. As
// several processes of several ranks the kernel does not find it, and neither does Clump: not in mode
// "pairs".
#define _GNU_SOURCE
#include <fcntl.h>

#include "check.h"

static int file;

static int lock(off_t begin, off_t bytes, short type, int command) {
  struct flock wanted;
  memset(&wanted, 0, sizeof wanted);
  wanted.l_type = type;
  wanted.l_whence = SEEK_SET;
  wanted.l_start = begin;
  wanted.l_len = bytes;
  return fcntl(file, command, &wanted);
}

// The ranks of `comm` each have a byte, and want the next one's.
static void ring(MPI_Comm comm, const char* what) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  check(lock(rank, 1, F_WRLCK, F_SETLK) == 0, "F_SETLK: %s", strerror(errno));
  MPI_Barrier(comm);
  errno = 0;
  const int result = lock((rank + 1) % size, 1, F_WRLCK, F_SETLKW);
  const int is_found = result != 0;
  check(result == 0 || errno == EDEADLK, "%s: F_SETLKW: %s", what, strerror(errno));
  lock(0, 0, F_UNLCK, F_SETLK);
  int found = 0;
  MPI_Allreduce(&is_found, &found, 1, MPI_INT, MPI_SUM, comm);
  check(found == 1, "%s: %d of %d ranks have got EDEADLK", what, found, size);
  MPI_Barrier(comm);
}

static void upgrade(MPI_Comm comm) {
  check(lock(100, 10, F_RDLCK, F_SETLK) == 0, "F_SETLK: %s", strerror(errno));
  MPI_Barrier(comm);
  errno = 0;
  const int result = lock(105, 2, F_WRLCK, F_SETLKW);
  const int is_found = result != 0;
  check(result == 0 || errno == EDEADLK, "upgrade: %s", strerror(errno));
  lock(0, 0, F_UNLCK, F_SETLK);
  int found = 0;
  MPI_Allreduce(&is_found, &found, 1, MPI_INT, MPI_SUM, comm);
  check(found == 1, "upgrade: %d ranks have got EDEADLK", found);
  MPI_Barrier(comm);
}

// Waiting for others that go on is no deadlock.
static void none(void) {
  for (int i = 0; i < 50; ++i) {
    check(lock(200, 1, F_WRLCK, F_SETLKW) == 0, "F_SETLKW: %s", strerror(errno));
    check(lock(201, 1, F_WRLCK, F_SETLKW) == 0, "F_SETLKW: %s", strerror(errno));
    lock(200, 1, F_UNLCK, F_SETLK);
    lock(201, 1, F_UNLCK, F_SETLK);
  }
}

int main(int argc, char** argv) {
  char name[64];
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "deadlock.%d", check_job);
  file = open(name, O_RDWR | O_CREAT, 0644);
  ring(MPI_COMM_WORLD, "all");
  MPI_Comm two;
  MPI_Comm_split(MPI_COMM_WORLD, check_rank < 2 ? 0 : MPI_UNDEFINED, check_rank, &two);
  if (check_rank < 2) {
    ring(two, "two");
    upgrade(two);
    MPI_Comm_free(&two);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  none();
  unlink(name);
  return check_end();
}
