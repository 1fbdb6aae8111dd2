/* next CALLS COUNTS OTHER: dlsym(RTLD_NEXT) in a library that ranks open finds the next definition among the
   libraries that the same dlopen() has opened: in the rank's own copy, and the rank's own function of the C
   library. Some ranks have opened the library with that definition before, by itself. */
#include "plugin.h"

static void check(int rank, char** libraries) {
  void* const before = rank % 2 == 1 ? opened(libraries[1], RTLD_NOW) : NULL;
  void* const library = opened(libraries[0], RTLD_NOW);
  for (int i = 1; i <= rank + 2; ++i) {
    EXPECT(called(library, "call_count_up") == 1001 * i);
    MPI_Barrier(MPI_COMM_SELF);
  }
  if (before != NULL) EXPECT(called(before, "count_up") == rank + 3);

  /* `getenv` of this program is the C library's: it was there before the wrapper. */
  char value[20];
  snprintf(value, sizeof value, "%d", rank);
  setenv("CLUMP_TEST_NEXT", value, 1);
  char* (*const ask)(const char*) = (char* (*)(const char*))dlsym(library, "ask");
  char* (*const wraps)(const char*) = (char* (*)(const char*))dlsym(library, "getenv");
  void* (*const next_of)(const char*) = (void* (*)(const char*))dlsym(library, "next_of");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(ask != NULL && strcmp(ask("CLUMP_TEST_NEXT"), value) == 0);
  EXPECT(wraps != NULL && strcmp(wraps("CLUMP_TEST_NEXT"), value) == 0);

  /* What comes later by another dlopen() does not follow, though its symbols are global. */
  void* const other = opened(libraries[2], RTLD_NOW | RTLD_GLOBAL);
  EXPECT(next_of != NULL && next_of("backend") == NULL);
  EXPECT(dlerror() != NULL);
  EXPECT(next_of != NULL && next_of("count_up") != NULL);
  dlclose(other);
  dlclose(library);
  if (before != NULL) dlclose(before);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) return 2;
  for (int i = 0; i < 2; ++i) {
    check(rank, argv + 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failures != 0;
}
