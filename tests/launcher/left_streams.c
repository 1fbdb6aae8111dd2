/* A rank opens one stream over its own descriptor 0 or 1, writes there, and ends without closing it. The
 * first argument says how, the second is the path; the rank's number is added. Right: the file has the line.
 */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  int rank;
  char path[256];
  FILE* stream = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s.%d", argv[2], rank);
  if (strcmp(argv[1], "freopen") == 0) {
    stream = freopen(path, "w", stdin);
  } else {
    const int descriptor = strcmp(argv[1], "output") == 0, file = open(path, O_WRONLY | O_CREAT, 0600);
    if (dup2(file, descriptor) == descriptor) stream = fdopen(descriptor, "w");
  }
  if (stream == NULL || fprintf(stream, "rank %d\n", rank) < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
