// A rank forks while another one of its process maps and unmaps memory by the allocator. An allocator has its
// own handlers of fork(), which wait for threads that are inside of it: so fork() must not hold what these
// wait for. Right: fork() returns, and the children end.
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "../signals/check.h"

enum { kBlock = 5 << 20, kForks = 40, kMostKept = 2000 };

/// From the kernel: every other one is kept, so that there is something to map.
static void allocate(void) {
  static int kept = 0;
  for (int i = 0; i < 4; ++i) {
    char* const block = malloc(kBlock);
    if (block == NULL) return;  // the machine lets programs have no more address space
    block[0] = 1;
    if (i % 2 == 0 || kept++ >= kMostKept) free(block);
  }
}

int main(int argc, char** argv) {
  alarm(100);  // a fork() that never returns
  begin(&argc, &argv);
  // From the first mapping of a rank on, it is noted what each one maps.
  if (rank == 0)
    CHECK(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    for (int i = 0; i < kForks; ++i) {
      const pid_t child = fork();
      if (child == 0) _exit(0);
      if (child < 0) perror("fork");
      int status = -1;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      if (status != 0) printf("a child has ended with status 0x%x\n", (unsigned)status);
      CHECK(status == 0);
    }
    for (int i = 1; i < size; ++i) MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    int done = 0;
    MPI_Irecv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!done) {
      for (int i = 0; i < 20; ++i) allocate();
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
  }
  return end();
}
