/* at_once LIBRARY OTHER: threads of all ranks open and close libraries at once, each rank those of its own.
 */
#include "plugin.h"

#include <pthread.h>

enum { kThreads = 3, kTurns = 30 };

static char** libraries;
static void* is_kept = NULL; /* a library that stays open, while others close it */

static void* open_and_close(void* number) {
  for (int i = 0; i < kTurns; ++i) {
    const int global = (i + *(int*)number) % 2 == 0 ? RTLD_GLOBAL : RTLD_LOCAL;
    void* const first = dlopen(libraries[0], RTLD_NOW);
    void* const second = dlopen(libraries[1], RTLD_NOW | global);
    EXPECT(first != NULL && called(first, "call_needed") == 2);
    EXPECT(second == is_kept && called(second, "backend") == 1);
    EXPECT(first != NULL && dlclose(first) == 0);
    EXPECT(second != NULL && dlclose(second) == 0);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
  if (argc != 3) return 2;
  libraries = argv + 1;
  is_kept = opened(libraries[1], RTLD_NOW);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t threads[kThreads];
  int numbers[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    numbers[i] = i;
    EXPECT(pthread_create(&threads[i], NULL, open_and_close, &numbers[i]) == 0);
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  EXPECT(dlopen(libraries[0], RTLD_NOW | RTLD_NOLOAD) == NULL);
  EXPECT(called(is_kept, "backend") == 1);
  dlclose(is_kept);
  EXPECT(dlopen(libraries[1], RTLD_NOW | RTLD_NOLOAD) == NULL);
  MPI_Finalize();
  return failures != 0;
}
