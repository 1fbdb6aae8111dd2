// What POSIX says of record locks, which SQLite builds on: they belong to the process, here to the rank. Two
// descriptors of a file do not exclude each other; ranges are split, merged and made exclusive across
// descriptors; closing any descriptor of the file drops all; a child has none; F_GETLK tells of others' only,
// and names somebody; the descriptor must be open for what is locked.
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "check.h"

static char name[64];

static int set(int file, short type, off_t begin, off_t bytes) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = begin, .l_len = bytes};
  return fcntl(file, F_SETLK, &lock);
}

// What another rank sees: 0, or the kind of the lock that would be in the way.
static int type_at(int file, short type, off_t begin, off_t bytes, pid_t* holder) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET, .l_start = begin, .l_len = bytes};
  check(fcntl(file, F_GETLK, &lock) == 0, "F_GETLK: %s", strerror(errno));
  if (holder != NULL) *holder = lock.l_pid;
  return lock.l_type;
}

static void step(void) { MPI_Barrier(MPI_COMM_WORLD); }

// The first rank does what `first` says, the second looks.
static void two_descriptors(int file) {
  const int other = open(name, O_RDWR);
  if (check_rank == 0) {
    check(set(file, F_RDLCK, 0, 100) == 0, "first lock: %s", strerror(errno));
    check(set(other, F_WRLCK, 10, 10) == 0, "upgrade by another descriptor: %s", strerror(errno));
    check(set(other, F_UNLCK, 50, 10) == 0, "split: %s", strerror(errno));
    check(type_at(other, F_WRLCK, 0, 100, NULL) == F_UNLCK, "a rank's own lock is in its way");
  }
  step();
  if (check_rank == 1) {
    pid_t holder = 0;
    check(type_at(file, F_RDLCK, 0, 10, NULL) == F_UNLCK, "shared bytes 0 to 9 are exclusive");
    check(type_at(file, F_WRLCK, 0, 10, &holder) == F_RDLCK, "bytes 0 to 9 are not locked");
    check(holder > 0 && kill(holder, 0) == 0, "the holder is %d, which is nobody", (int)holder);
    check(type_at(file, F_RDLCK, 12, 2, NULL) == F_WRLCK, "bytes 10 to 19 are not exclusive");
    check(type_at(file, F_WRLCK, 50, 10, NULL) == F_UNLCK, "bytes 50 to 59 are locked");
    check(type_at(file, F_WRLCK, 60, 10, NULL) == F_RDLCK, "bytes 60 to 69 are not locked");
    errno = 0;
    check(set(file, F_WRLCK, 60, 1) == -1 && (errno == EAGAIN || errno == EACCES), "no conflict: %s",
          strerror(errno));
  }
  step();
  if (check_rank == 0) close(other);  // and with it all locks
  step();
  if (check_rank == 1) check(type_at(file, F_WRLCK, 0, 0, NULL) == F_UNLCK, "locks survive a close()");
  step();
  if (check_rank != 0) close(other);
}

static void by_stdio(int file) {
  if (check_rank == 0) {
    check(set(file, F_WRLCK, 0, 0) == 0, "lock: %s", strerror(errno));
    fclose(fopen(name, "r"));
  }
  step();
  if (check_rank == 1) check(type_at(file, F_WRLCK, 0, 0, NULL) == F_UNLCK, "locks survive fclose()");
  step();
}

static void by_dup2(int file) {
  const int other = dup(file);
  if (check_rank == 0) {
    check(set(file, F_WRLCK, 0, 0) == 0, "lock: %s", strerror(errno));
    const int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, other);
    close(nothing);
  }
  step();
  if (check_rank == 1) check(type_at(file, F_WRLCK, 0, 0, NULL) == F_UNLCK, "locks survive dup2()");
  step();
  close(other);
}

static void not_of_children(int file) {
  if (check_rank == 0) {
    check(set(file, F_WRLCK, 0, 0) == 0, "lock: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) _exit(set(file, F_WRLCK, 0, 1) == 0 ? 1 : 0);
    int status = -1;
    check(waitpid(child, &status, 0) == child && status == 0, "a child has its parent's lock");
  }
  step();
  if (check_rank == 1) check(type_at(file, F_WRLCK, 0, 0, NULL) == F_WRLCK, "the end of a child drops locks");
  step();
  if (check_rank == 0) check(set(file, F_UNLCK, 0, 0) == 0, "unlock: %s", strerror(errno));
  step();
}

static void kinds_of_opening(void) {
  const int reads = open(name, O_RDONLY), writes = open(name, O_WRONLY);
  errno = 0;
  check(set(reads, F_WRLCK, 0, 1) == -1 && errno == EBADF, "F_WRLCK of what is read only: %s",
        strerror(errno));
  errno = 0;
  check(set(writes, F_RDLCK, 0, 1) == -1 && errno == EBADF, "F_RDLCK of what is write only: %s",
        strerror(errno));
  check(set(reads, F_RDLCK, 0, 1) == 0, "F_RDLCK: %s", strerror(errno));
  check(set(reads, F_UNLCK, 0, 1) == 0, "F_UNLCK: %s", strerror(errno));
  step();
  if (check_rank == 0) check(set(writes, F_WRLCK, 0, 1) == 0, "F_WRLCK: %s", strerror(errno));
  step();
  close(reads);
  close(writes);
  errno = 0;
  check(set(-1, F_WRLCK, 0, 1) == -1 && errno == EBADF, "lock of no descriptor");
}

static void relative(int file) {
  lseek(file, 40, SEEK_SET);
  if (check_rank == 0) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_CUR, .l_start = -10, .l_len = 5};
    check(fcntl(file, F_SETLK, &lock) == 0, "SEEK_CUR: %s", strerror(errno));
    struct flock end = {.l_type = F_WRLCK, .l_whence = SEEK_END, .l_start = -1, .l_len = 1};
    check(fcntl(file, F_SETLK, &end) == 0, "SEEK_END: %s", strerror(errno));
    check(lockf(file, F_TLOCK, -2) == 0, "lockf: %s", strerror(errno));
  }
  step();
  if (check_rank == 1) {
    check(type_at(file, F_WRLCK, 30, 5, NULL) == F_WRLCK, "bytes 30 to 34 are free");
    check(type_at(file, F_WRLCK, 35, 3, NULL) == F_UNLCK, "bytes 35 to 37 are locked");
    check(type_at(file, F_WRLCK, 38, 2, NULL) == F_WRLCK, "bytes 38 and 39 are free");
    check(type_at(file, F_WRLCK, 199, 1, NULL) == F_WRLCK, "the last byte is free");
    lseek(file, 30, SEEK_SET);
    errno = 0;
    check(lockf(file, F_TEST, 1) == -1 && errno == EACCES, "F_TEST: %s", strerror(errno));
  }
  step();
  if (check_rank == 0) check(set(file, F_UNLCK, 0, 0) == 0 && lockf(file, F_TEST, 0) == 0, "F_TEST of own");
  step();
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "lock_rules.%d", check_job);
  if (check_rank == 0) {
    const int made = open(name, O_RDWR | O_CREAT | O_TRUNC, 0644);
    check(ftruncate(made, 200) == 0, "ftruncate");
    close(made);
  }
  step();
  const int file = open(name, O_RDWR);
  two_descriptors(file);
  by_stdio(file);
  by_dup2(file);
  not_of_children(file);
  kinds_of_opening();
  relative(file);
  close(file);
  step();
  if (check_rank == 0) unlink(name);
  return check_end();
}
