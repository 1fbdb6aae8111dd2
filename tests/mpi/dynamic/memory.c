// Memory that a spawned rank has freed does not stay with the process, whose ranks spawn others.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static const size_t kMega = 1 << 20;

static long resident_megabytes(void) {
  long pages = 0, resident = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE) / (long)kMega;
}

static void child(void) {
  const size_t sizes[] = {30, 30, 10, 10};
  char* all[4];
  for (int i = 0; i < 4; ++i) memset(all[i] = malloc(sizes[i] * kMega), 1, sizes[i] * kMega);
  for (int i = 0; i < 4; ++i) free(all[i]);
}

int main(int argc, char** argv) {
  enum { kTimes = 6 };
  MPI_Comm inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&inter);
  if (inter != MPI_COMM_NULL) {
    child();
    CHECK_OK(MPI_Comm_disconnect(&inter));
    MPI_Finalize();
    return check_result();
  }
  long before = 0, now = 0;
  for (int i = 0; i <= kTimes; ++i) {
    CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter,
                            MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Comm_disconnect(&inter));
    if (i == 0) before = resident_megabytes();  // the first one may have ended, or not
  }
  /* What one child had may be there still, and what belongs to ranks that have ended. The last child may not
     have ended yet. */
  const long most = before + 100;
  for (int looks = 0; (now = resident_megabytes()) > most && looks < 1000; ++looks) usleep(10000);
  printf("resident: %ld MiB, then %ld\n", before, now);
  CHECK(now <= most);
  MPI_Finalize();
  return check_result();
}
