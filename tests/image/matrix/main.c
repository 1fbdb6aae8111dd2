/* main FUNCTION [PLUGIN]: every rank adds its own number three times and must see nothing but its own
 * additions. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "mpi.h"
#include "probe.h"

typedef int (*Probe)(int);

#ifdef LINKED
static const struct {
  const char* name;
  Probe probe;
} table[] = {
    {"probe_global", probe_global},
    {"probe_function_static", probe_function_static},
    {"probe_thread_local", probe_thread_local},
    {"probe_imported", probe_imported},
#ifdef __cplusplus
#error "compile this as C"
#endif
#ifdef WITH_OBJECTS
    {"probe_static_object", probe_static_object},
#endif
};

static Probe find(const char* name, const char* plugin) {
  (void)plugin;
  for (size_t i = 0; i < sizeof table / sizeof table[0]; ++i) {
    if (strcmp(table[i].name, name) == 0) return table[i].probe;
  }
  return NULL;
}
#else
static Probe find(const char* name, const char* plugin) {
  void* library = dlopen(plugin, RTLD_NOW);
  void* found = library != NULL ? dlsym(library, name) : NULL;
  if (found == NULL) printf("%s\n", dlerror());
  return (Probe)found;
}
#endif

int main(int argc, char** argv) {
  int rank = -1;
  int result = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const Probe probe = argc > 1 ? find(argv[1], argc > 2 ? argv[2] : NULL) : NULL;
  if (probe == NULL) return 2;
  for (int round = 0; round < 3; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    result = probe(rank + 1);
  }
  MPI_Finalize();
  if (result == 7 + 3 * (rank + 1)) return 0;
  printf("rank %d: %s gives %d, not %d\n", rank, argv[1], result, 7 + 3 * (rank + 1));
  return 1;
}
