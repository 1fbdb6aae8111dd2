/* many PLUGIN: libraries that a rank has open take no descriptors. */
#include <dirent.h>
#include <unistd.h>

#include "plugin.h"

static int descriptors(void) {
  int count = 0;
  DIR* const folder = opendir("/proc/self/fd");
  while (folder != NULL && readdir(folder) != NULL) ++count;
  closedir(folder);
  return count;
}

int main(int argc, char** argv) {
  enum { kLibraries = 50 };
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 2) return 2;
  if (rank == 0) {
    void* libraries[kLibraries];
    int before = 0;
    for (int i = 0; i < kLibraries; ++i) {
      char path[128];
      snprintf(path, sizeof path, "./many.%ld.%d.so", (long)getpid(), i);
      put(argv[1], path, 0);
      libraries[i] = opened(path, RTLD_NOW);
      EXPECT(called(libraries[i], "version") == 1);
      unlink(path);
      /* What is made once, the first library may have made. */
      if (i == 0) before = descriptors();
    }
    EXPECT(descriptors() < before + kLibraries / 2); /* the process makes some for itself at any time */
    for (int i = 0; i < kLibraries; ++i) EXPECT(called(libraries[i], "version") == 1);
    for (int i = 0; i < kLibraries; ++i) dlclose(libraries[i]);
  }
  MPI_Finalize();
  return failures != 0;
}
