// Record locks keep ranks apart, as processes: fcntl() with F_SETLKW and F_SETLK, lockf(), and for comparison
// flock() and open file description locks. A counter in a file, which every rank raises under the lock, is
// exact. Programs append to one log in this way, and take numbers of runs from a file.
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/file.h>

#include "check.h"

enum { kTimes = 200 };

static int set(int file, int command, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  return fcntl(file, command, &lock);
}

static void take(int file, const char* how) {
  int error = 0;
  lseek(file, 0, SEEK_SET);
  if (!strcmp(how, "lockf"))
    error = lockf(file, F_LOCK, 0);
  else if (!strcmp(how, "try"))
    while ((error = set(file, F_SETLK, F_WRLCK)) != 0 && (errno == EAGAIN || errno == EACCES)) usleep(50);
  else if (!strcmp(how, "flock"))
    error = flock(file, LOCK_EX);
  else
    error = set(file, !strcmp(how, "ofd") ? F_OFD_SETLKW : F_SETLKW, F_WRLCK);
  check(error == 0, "%s: %s", how, strerror(errno));
}

static void give_back(int file, const char* how) {
  lseek(file, 0, SEEK_SET);
  if (!strcmp(how, "lockf"))
    lockf(file, F_ULOCK, 0);
  else if (!strcmp(how, "flock"))
    flock(file, LOCK_UN);
  else
    set(file, !strcmp(how, "ofd") ? F_OFD_SETLK : F_SETLK, F_UNLCK);
}

static void count(const char* name, const char* how) {
  const int file = open(name, O_RDWR | O_CREAT, 0644);
  char text[16] = "";
  for (int i = 0; i < kTimes; ++i) {
    take(file, how);
    check(pread(file, text, 13, 0) == 13, "pread: %s", strerror(errno));
    const int next = atoi(text) + 1;
    if (i % 20 == 0) usleep(100);
    snprintf(text, sizeof text, "%12d\n", next);
    check(pwrite(file, text, 13, 0) == 13, "pwrite: %s", strerror(errno));
    give_back(file, how);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  check(pread(file, text, 13, 0) == 13 && atoi(text) == kTimes * check_size, "%s: counted %d instead of %d",
        how, atoi(text), kTimes * check_size);
  close(file);
}

// More ranks wait for longer than there are cores for them; whoever has the lock still comes to its end.
static void wait_long(const char* name) {
  const int file = open(name, O_RDWR | O_CREAT, 0644);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; ++i) {
    check(set(file, F_SETLKW, F_WRLCK) == 0, "F_SETLKW: %s", strerror(errno));
    usleep(30000);
    check(set(file, F_SETLK, F_UNLCK) == 0, "F_UNLCK: %s", strerror(errno));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  close(file);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  static const char* const ways[] = {"fcntl", "try", "lockf", "flock", "ofd"};
  for (int way = 0; way < 5; ++way) {
    char name[64];
    snprintf(name, sizeof name, "locks.%d.%s", check_job, ways[way]);
    if (check_rank == 0) {
      FILE* file = fopen(name, "w");
      fprintf(file, "%12d\n", 0);
      fclose(file);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    count(name, ways[way]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (check_rank == 0) unlink(name);
  }
  char name[64];
  snprintf(name, sizeof name, "locks.%d.long", check_job);
  wait_long(name);
  if (check_rank == 0) unlink(name);
  return check_end();
}
