// Stands for programs whose automatic arrays do not fit, as every MPI library's users report them
// ("segmentation fault in a subroutine that only declares variables"), for endless recursion, and for indices
// beyond an array on the stack.
//   frame KB     an array of so many KB; the first bytes of it are written, so that nothing between is
//   touched sweep KB     the same, all of it, from its upper end on recurse      without end below KB     an
//   address so far below an array that is on the stack above KB     an address so far above thread KB    as
//   frame, in a thread of the rank openmp KB    as frame, in a thread of OpenMP
// The rank that does it is the second argument. Right: mpiexec reports a stack overflow of this rank, and no
// other rank's variables change.
#include <alloca.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBytes = 65536 };

static const char* how;
static long kilobytes;

/// What another rank has on its stack meanwhile.
static int watch(void) {
  volatile char mine[kBytes];
  int changed = 0;
  memset((void*)mine, 7, sizeof mine);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < kBytes; ++i) changed += mine[i] != 7;
  if (changed != 0) printf("%d bytes of another rank's variables were overwritten\n", changed);
  return changed;
}

static void __attribute__((noinline)) use_frame(long bytes) {
  volatile char* const array = alloca(bytes);
  if (strcmp(how, "sweep") == 0)
    for (long i = bytes - 1; i >= 0; i -= 512) array[i] = 1;
  for (int i = 0; i < kBytes; i += 512) array[i] = 1;
}

static long __attribute__((noinline)) recurse(long depth) {
  volatile char frame[2000];
  frame[0] = (char)depth;
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static void __attribute__((noinline)) touch(long distance) {
  volatile char array[64];
  volatile char* volatile start = array;
  start[distance] = 1;
}

static void* in_thread(void* bytes) {
  use_frame((long)bytes);
  return NULL;
}

static void overflow(void) {
  const long bytes = kilobytes * 1024;
  if (strcmp(how, "recurse") == 0) {
    recurse(0);
  } else if (strcmp(how, "below") == 0) {
    touch(-bytes);
  } else if (strcmp(how, "above") == 0) {
    touch(bytes);
  } else if (strcmp(how, "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, (void*)bytes);
    pthread_join(thread, NULL);
  } else if (strcmp(how, "openmp") == 0) {
#pragma omp parallel num_threads(2)
    {
#ifdef _OPENMP
      extern int omp_get_thread_num(void);
      if (omp_get_thread_num() == 1) use_frame(bytes);
#endif
    }
  } else {
    use_frame(bytes);
  }
}

int main(int argc, char** argv) {
  int granted = 0, rank = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &granted);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  how = argc > 1 ? argv[1] : "frame";
  kilobytes = argc > 3 ? atol(argv[3]) : 0;
  int changed = 0;
  if (rank == (argc > 2 ? atoi(argv[2]) : 0)) {
    MPI_Barrier(MPI_COMM_WORLD);
    overflow();
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    changed = watch();
  }
  MPI_Finalize();
  return changed != 0;
}
