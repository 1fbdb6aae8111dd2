/* What the C library keeps once per process is each rank's own: the same calls in all ranks at once disturb
 * none of them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "rank.h"

extern char** environ;

static int in_environ(const char* entry) {
  for (char** at = environ; *at != NULL; ++at) {
    if (strcmp(*at, entry) == 0) return 1;
  }
  return 0;
}

int main(void) {
  const int rank = begin_rank();
  char name[32];
  char words[] = "one,two,three";
  char rest[] = "x y z";

  srand(1);
  srand48(1);
  const int first = rand();
  MPI_Barrier(MPI_COMM_WORLD);
  const int second = rand();
  printf("rand %d %d, drand48 %.6f\n", first, second, drand48());

  const char* word = strtok(words, ",");
  MPI_Barrier(MPI_COMM_WORLD);
  printf("strtok %s", word);
  word = strtok(NULL, ",");
  printf(" %s\n", word);
  strtok(rest, " ");

  const time_t day = (time_t)(rank + 1) * 86400;
  const struct tm* date = gmtime(&day);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("day %d\n", date->tm_mday - rank);

  snprintf(name, sizeof name, "%d", rank);
  setenv("CLUMP_TEST_RANK", name, 1);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("environment %s\n", getenv("CLUMP_TEST_RANK"));
  snprintf(name, sizeof name, "CLUMP_TEST_RANK=%d", rank);
  printf("environ %d\n", in_environ(name));
  unsetenv("CLUMP_TEST_RANK");
  printf("unset %d\n", getenv("CLUMP_TEST_RANK") == NULL && !in_environ(name));
  MPI_Finalize();
  return 0;
}
