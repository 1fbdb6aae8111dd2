// SIGPIPE: one rank ignores it and sees EPIPE, another handles it, and each only its own.
// For: network clients and servers that ignore SIGPIPE (libcurl, gRPC), pagers and filters that handle it.
#include <errno.h>

#include "check.h"

static volatile sig_atomic_t got;
static void count(int number) {
  (void)number;
  got++;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  signal(SIGPIPE, rank % 2 ? SIG_IGN : count);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10; ++i) {
    int ends[2];
    CHECK(pipe(ends) == 0);
    close(ends[0]);
    CHECK(write(ends[1], "x", 1) == -1 && errno == EPIPE);
    close(ends[1]);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(got == (rank % 2 ? 0 : 10));
  return end();
}
