/* scope FIRST SECOND OPTIONAL SOLVER ROOT NEEDED VERSION1 USER2 CIRCLE: the symbols of a library are those of
   what its rank has open. Ranks open different libraries, one after the other. */
#include "plugin.h"

static void solve(int rank, char** libraries) {
  const int number = rank % 3; /* of the library that this rank opens; 0: none */
  const int optional = rank % 2;
  void* backend = NULL;
  EXPECT(dlsym(RTLD_DEFAULT, "backend") == NULL);
  if (number != 0) {
    backend = opened(libraries[number - 1], RTLD_NOW | RTLD_GLOBAL);
    /* ld.so never unloads what a program has found so. */
    if (!optional) EXPECT(dlsym(RTLD_DEFAULT, "backend") == dlsym(backend, "backend"));
  }
  void* const more = optional ? opened(libraries[2], RTLD_NOW | RTLD_GLOBAL) : NULL;
  void* solver = dlopen(libraries[3], RTLD_NOW);
  if (number == 0) {
    const char* const error = dlerror();
    EXPECT(solver == NULL);
    EXPECT(error != NULL && strstr(error, "undefined symbol: backend") != NULL);
  } else {
    const int wanted = 111 * number + 1000 * optional;
    EXPECT(solver != NULL);
    if (solver != NULL && called(solver, "solve") != wanted)
      fprintf(stderr, "rank %d: %d, not %d\n", rank, called(solver, "solve"), wanted);
    EXPECT(solver != NULL && called(solver, "solve") == wanted);
    dlclose(backend); /* the solver uses it */
    EXPECT(called(solver, "solve") == wanted);
    EXPECT(dlopen(libraries[number - 1], RTLD_NOW | RTLD_NOLOAD) == backend);
    dlclose(backend);
    dlclose(solver);
    if (optional) EXPECT(dlopen(libraries[number - 1], RTLD_NOW | RTLD_NOLOAD) == NULL);
  }
  if (more != NULL) dlclose(more);
}

int main(int argc, char** argv) {
  int rank = 0;
  int size = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 10) return 2;
  for (int turn = 0; turn < size; ++turn) {
    if (turn == size - 1 - rank) solve(rank, argv + 1);
    MPI_Barrier(MPI_COMM_WORLD);
  }

  /* The library that is opened comes before what it needs; alone, that has its own. */
  if (rank % 2 == 0) {
    void* const needed = opened(argv[6], RTLD_NOW);
    EXPECT(called(needed, "call_hook") == 1);
    dlclose(needed);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  void* const root = opened(argv[5], RTLD_NOW);
  EXPECT(called(root, "call_needed") == 2);
  EXPECT(called(root, "hook") == 2);
  dlclose(root);

  /* What is there first has another version. */
  void* const version = opened(argv[7], RTLD_NOW | RTLD_GLOBAL);
  void* const user = opened(argv[8], RTLD_NOW);
  EXPECT(called(user, "number_used") == 2);
  dlclose(user);
  dlclose(version);

  void* const circle = opened(argv[9], RTLD_NOW);
  EXPECT(called(circle, "call_second") == 10);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(called(circle, "call_second") == 20);
  dlclose(circle);
  MPI_Finalize();
  return failures != 0;
}
