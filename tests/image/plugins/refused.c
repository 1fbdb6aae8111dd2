/* refused PATH TEXT: a library that cannot be opened, again and again; the error says why each time, and
   nothing of it stays. */
#include <dirent.h>

#include "plugin.h"

static int descriptors(void) {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  enum { kTries = 20 };
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 3) return 2;
  if (rank == 0) {
    const int before = descriptors();
    for (int i = 0; i < kTries; ++i) {
      void* const library = dlopen(argv[1], RTLD_NOW);
      const char* const error = dlerror();
      EXPECT(library == NULL);
      EXPECT(error != NULL && strstr(error, argv[2]) != NULL);
      if (error != NULL && strstr(error, argv[2]) == NULL) fprintf(stderr, "it says: %s\n", error);
    }
    EXPECT(descriptors() < before + kTries / 2); /* the process makes some for itself at any time */
  }
  MPI_Finalize();
  return failures != 0;
}
