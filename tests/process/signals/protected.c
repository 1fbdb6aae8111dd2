// A rank notes which pages are written, as incremental checkpoints and collectors do: it protects them, and
// its handler of SIGSEGV makes each writable when it is written. Right: that rank's handler is called, and no
// other's, whatever thread receives into the memory or combines there.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, BYTES = 480000, ROUNDS = 2 };

static char* area;
static int faults;  // counted by all threads that write there
static volatile int wrong;
static int rank, ranks;

static void on_fault(int number, siginfo_t* info, void* context) {
  char* const at = info->si_addr;
  (void)number, (void)context;
  if (at < area || at >= area + BYTES) {
    static const char text[] = "a fault in memory of another rank\n";
    if (write(2, text, sizeof text - 1) < 0) _exit(4);
    _exit(3);
  }
  __atomic_fetch_add(&faults, 1, __ATOMIC_RELAXED);
  if (mprotect(area + (at - area) / PAGE * PAGE, PAGE, PROT_READ | PROT_WRITE) != 0) _exit(5);
}

static void protect(void) {
  __atomic_store_n(&faults, 0, __ATOMIC_RELAXED);
  if (mprotect(area, BYTES, PROT_READ) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void expect(const char* call, int count, int value) {
  for (int i = 0; i < count; ++i)
    if (area[i] != value) {
      printf("rank %d, %s of %d bytes: byte %d is %d, and should be %d\n", rank, call, count, i, area[i],
             value);
      wrong = 1;
      break;
    }
  const int counted = __atomic_load_n(&faults, __ATOMIC_RELAXED);
  if (counted < count / PAGE)
    printf("rank %d, %s of %d bytes: only %d faults\n", rank, call, count, counted), wrong = 1;
}

int main(int argc, char** argv) {
  static const int sizes[] = {100, 20000, 200000, BYTES};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peer = ranks - 1 - rank;
  area = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  char* const data = malloc(BYTES);
  struct sigaction action = {0};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, NULL);
  for (int round = 1; round <= ROUNDS; ++round)
    for (int i = 0; i < 4; ++i) {
      memset(data, round, BYTES);
      protect();
      MPI_Sendrecv(data, sizes[i], MPI_CHAR, peer, 0, area, sizes[i], MPI_CHAR, peer, 0, MPI_COMM_WORLD,
                   MPI_STATUS_IGNORE);
      expect("MPI_Sendrecv", sizes[i], round);
      protect();
      MPI_Bcast(rank == ranks - 1 ? data : area, sizes[i], MPI_CHAR, ranks - 1, MPI_COMM_WORLD);
      if (rank < ranks - 1) expect("MPI_Bcast", sizes[i], round);
      memset(area, 0, BYTES);
      protect();
      MPI_Reduce_local(data, area, sizes[i], MPI_SIGNED_CHAR, MPI_SUM);
      expect("MPI_Reduce_local", sizes[i], round);
    }
  const int mine = wrong;
  int all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(data);
  MPI_Finalize();
  return all;
}
