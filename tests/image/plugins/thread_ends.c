/* thread_ends LIBRARY BOUND NEEDED: a thread closes a library that a destructor of a thread-local object of
   the thread is in. The library stays as long as the destructor waits, and so does what the destructor uses:
   a library that LIBRARY needs, and one that its rank has opened before. */
#include "plugin.h"

#include <pthread.h>

static char** libraries;
static int sum = 0;

static void* open_and_close(void* unused) {
  void* const bound = opened(libraries[1], RTLD_NOW | RTLD_GLOBAL);
  void* const library = opened(libraries[0], RTLD_NOW);
  int (*const begin)(int*) = (int (*)(int*))dlsym(library, "begin_object");
  EXPECT(begin != NULL && begin(&sum) == 0);
  dlclose(bound);
  dlclose(library);
  EXPECT(sum == 0);
  /* Another dlclose() of what has to stay. */
  void* const needed = opened(libraries[2], RTLD_NOW);
  dlclose(needed);
  return unused;
}

int main(int argc, char** argv) {
  MPI_Init(NULL, NULL);
  if (argc != 4) return 2;
  libraries = argv + 1;
  for (int i = 0; i < 2; ++i) {
    pthread_t thread;
    sum = 0;
    EXPECT(pthread_create(&thread, NULL, open_and_close, NULL) == 0);
    pthread_join(thread, NULL);
    EXPECT(sum == 77);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return failures != 0;
}
