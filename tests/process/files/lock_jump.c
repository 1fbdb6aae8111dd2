// A handler leaves a wait for a record lock by siglongjmp(): the rank does not wait any more, so another rank
// that waits for its lock is in no deadlock. A handler that jumps within itself leaves no wait: then it is
// one, also where it has a stack of its own that lies above the rank's (with the argument "above"). For: time
// limits around F_SETLKW with alarm() and siglongjmp().
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/time.h>

#include "../signals/check.h"

static sigjmp_buf place;
static void leave(int number) {
  (void)number;
  siglongjmp(place, 1);
}

enum { kTold = 100 };  // where in the file rank 0 says that it waits, and has jumped meanwhile
static volatile sig_atomic_t file_to_tell = -1, jumps = 0;
static void jump_inside(int number) {
  (void)number;
  if (sigsetjmp(place, 1) == 0) siglongjmp(place, 1);
  if (file_to_tell >= 0 && ++jumps == 3) (void)!pwrite(file_to_tell, "x", 1, kTold);
}

static int lock(int file, int type, int byte, int command) {
  struct flock one = {.l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1};
  return fcntl(file, command, &one);
}

/// Gives handlers a stack above the caller's.
static void put_handlers_above(void) {
  enum { kBytes = 1 << 16, kStep = 1 << 24 };
  char here = 0;
  void* stack = MAP_FAILED;
  for (uintptr_t at = ((uintptr_t)&here & ~0xfffUL) + 4 * kStep; stack == MAP_FAILED && at < 0x7fffff000000;
       at += kStep)
    stack = mmap((void*)at, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE,
                 -1, 0);
  const stack_t alternate = {.ss_sp = stack, .ss_size = kBytes};
  CHECK(stack != MAP_FAILED && sigaltstack(&alternate, NULL) == 0);
}

/// Waits where later calls do not overwrite the stack.
static void wait_far_down(int file) {
  volatile char room[256 << 10];
  room[0] = 0;
  lock(file, F_WRLCK, 0, F_SETLKW);
  room[1] = 0;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  char name[64] = "";
  if (rank == 0) snprintf(name, sizeof name, "/tmp/clump_jump_%d", (int)getpid());
  MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int file = open(name, O_RDWR | O_CREAT, 0600), other = 1 - rank;
  CHECK(file > 2 && lock(file, F_WRLCK, rank, F_SETLK) == 0);
  install(SIGALRM, leave, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    if (sigsetjmp(place, 1) == 0) {
      const struct itimerval soon = {{0, 0}, {0, 3000}};
      setitimer(ITIMER_REAL, &soon, NULL);
      wait_far_down(file);
      CHECK(!"the wait has ended");
    }
    MPI_Sendrecv(NULL, 0, MPI_INT, other, 0, NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (char told = 0; pread(file, &told, 1, kTold) != 1;) usleep(1000);
    CHECK(lock(file, F_WRLCK, 0, F_SETLKW) == -1 && errno == EDEADLK);
    CHECK(lock(file, F_UNLCK, 1, F_SETLK) == 0);
  } else {
    MPI_Sendrecv(NULL, 0, MPI_INT, other, 0, NULL, 0, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (argc > 1) put_handlers_above();
    install(SIGALRM, jump_inside, SA_RESTART | SA_ONSTACK);
    const struct itimerval often = {{0, 3000}, {0, 3000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &often, NULL);
    file_to_tell = file;
    CHECK(lock(file, F_WRLCK, 1, F_SETLKW) == 0);
    setitimer(ITIMER_REAL, &never, NULL);
    unlink(name);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  close(file);
  return end();
}
