/* rebuilt VERSION1 VERSION2 USER: a library whose file changes while ranks open and close it. A rank that has
   it open keeps what it has; else dlopen() loads what the file holds. */
#include <sys/stat.h>
#include <unistd.h>

#include "plugin.h"

static const char* first;
static const char* second;

/* Opens a library, calls its function, closes it. */
static int look(const char* path, const char* name) {
  void* const library = opened(path, RTLD_NOW | RTLD_LOCAL);
  const int answer = called(library, name);
  dlclose(library);
  return answer;
}

/* A library of this rank alone. */
static void alone(const char* path) {
  put(first, path, 0);
  EXPECT(look(path, "version") == 1);
  put(second, path, 0);
  EXPECT(look(path, "version") == 2);
  EXPECT(look(path, "version") == 2);
  put(first, path, 1); /* the same file, of the same size, perhaps within a tick of the file system's clock */
  EXPECT(look(path, "version") == 1);

  void* const held = opened(path, RTLD_NOW | RTLD_LOCAL);
  put(second, path, 0);
  EXPECT(dlopen(path, RTLD_NOW | RTLD_NOLOAD) == held);
  EXPECT(look(path, "version") == 1);
  EXPECT(called(held, "version") == 1);
  dlclose(held);
  dlclose(held);
  EXPECT(look(path, "version") == 2);
}

/* A library that another one needs. */
static void needed(const char* folder, const char* user) {
  char path[1100];
  char by[1100];
  snprintf(path, sizeof path, "%s/libimage_version.so", folder);
  snprintf(by, sizeof by, "%s/user.so", folder);
  put(first, path, 0);
  put(user, by, 0);
  EXPECT(look(by, "version_of_needed") == 1);
  put(second, path, 0);
  EXPECT(look(by, "version_of_needed") == 2);

  /* What the rank has open serves all that need it. */
  void* const held = opened(path, RTLD_NOW | RTLD_LOCAL);
  put(first, path, 0);
  EXPECT(look(by, "version_of_needed") == 2);
  dlclose(held);
  EXPECT(look(by, "version_of_needed") == 1);
  unlink(path);
  unlink(by);
}

/* One rank has the old version open while the others open the new one. */
static void together(const char* path, int rank) {
  if (rank == 0) put(first, path, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  void* old = rank == 0 ? opened(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) put(second, path, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    EXPECT(look(path, "version") == 1);
    EXPECT(called(old, "version") == 1);
    dlclose(old);
  }
  EXPECT(look(path, "version") == 2);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) unlink(path);
}

int main(int argc, char** argv) {
  int rank = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc != 4) return 2;
  first = argv[1];
  second = argv[2];

  char job[64] = "";
  if (rank == 0) snprintf(job, sizeof job, "rebuilt.%ld", (long)getpid());
  MPI_Bcast(job, sizeof job, MPI_CHAR, 0, MPI_COMM_WORLD);
  char folder[128];
  char path[256];
  snprintf(folder, sizeof folder, "%s.%d", job, rank);
  snprintf(path, sizeof path, "./%s/version.so", folder);
  EXPECT(mkdir(folder, 0777) == 0);
  alone(path);
  needed(folder, argv[3]);
  unlink(path);
  rmdir(folder);
  snprintf(path, sizeof path, "./%s.so", job);
  together(path, rank);
  MPI_Finalize();
  return failures != 0;
}
