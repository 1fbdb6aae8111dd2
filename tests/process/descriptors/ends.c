// A rank that ends closes what it has open, and writes what its streams hold, as a process does: whoever
// reads at the other end of a pipe sees the end. Rank 0 reads a FIFO, after MPI_Finalize, which the others
// write to: by a stream that they do not close, or (argument "quick") one that loses what it holds, as
// _exit() does not write it.
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>

#include "../files/check.h"

int main(int argc, char** argv) {
  const int is_quick = argc > 1 && strcmp(argv[1], "quick") == 0;
  char name[64], text[4096];
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "ends.%d", check_job);
  if (check_rank == 0) check(mkfifo(name, 0600) == 0, "mkfifo: %s", strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
  int reader = -1;
  FILE* writer = NULL;
  if (check_rank == 0) {
    reader = open(name, O_RDONLY | O_NONBLOCK);
    check(reader >= 0, "open: %s", strerror(errno));
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank != 0) {
    writer = fopen(name, "w");
    check(writer != NULL, "fopen: %s", strerror(errno));
    fprintf(writer, "%d\n", check_rank);
    const int also = dup(fileno(writer));
    check(dup2(also, 1) == 1, "dup2: %s", strerror(errno));  // the rank's standard output is such an end, too
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) unlink(name);
  const int bad = check_end();
  if (bad) return bad;
  if (check_rank != 0) {
    if (is_quick) _exit(0);
    return 0;
  }
  int bytes = 0;
  struct pollfd end = {reader, POLLIN, 0};
  for (;;) {
    if (poll(&end, 1, 20000) != 1) return fprintf(stderr, "the FIFO does not end\n"), 1;
    const ssize_t got = read(reader, text, sizeof text);
    if (got == 0) break;
    if (got > 0) bytes += (int)got;
  }
  const int expected = is_quick ? 0 : 2 * (check_size - 1);
  if (bytes != expected) fprintf(stderr, "the FIFO held %d bytes, not %d\n", bytes, expected);
  return bytes != expected;
}
