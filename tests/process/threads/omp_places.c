// OpenMP's threads bound to places (OMP_PLACES=cores OMP_PROC_BIND=close, in most job scripts of hybrid
// codes). Right: places are cores of the rank's own share, each thread stays in its place, and where there
// are cores enough no two ranks have the same.
#define _GNU_SOURCE
#include <mpi.h>
#include <omp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int rank, size, failures = 0;

#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      ++failures;                                                                 \
      printf("rank %d: line %d: %s does not hold\n", rank, __LINE__, #condition); \
    }                                                                             \
  } while (0)

int main(int argc, char** argv) {
  int given = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &given);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  unsigned char mine[CPU_SETSIZE] = {0}, *all = malloc((size_t)size * CPU_SETSIZE);
  const int places = omp_get_num_places();
  EXPECT(places >= 1);
  for (int place = 0; place < places; ++place) {
    int cores[CPU_SETSIZE];
    omp_get_place_proc_ids(place, cores);
    for (int i = 0; i < omp_get_place_num_procs(place); ++i) mine[cores[i]] = 1;
  }
#pragma omp parallel
  {
    cpu_set_t bound;
    CPU_ZERO(&bound);
    sched_getaffinity(0, sizeof bound, &bound);
    const int place = omp_get_place_num();
#pragma omp critical
    {
      EXPECT(place >= 0 && place < places);
      EXPECT(place == omp_get_thread_num() % places);
      for (int core = 0; core < CPU_SETSIZE; ++core)
        if (CPU_ISSET(core, &bound)) EXPECT(mine[core]);
      if (omp_get_thread_num() != 0) EXPECT(CPU_ISSET(sched_getcpu(), &bound));
    }
  }
  MPI_Allgather(mine, CPU_SETSIZE, MPI_BYTE, all, CPU_SETSIZE, MPI_BYTE, MPI_COMM_WORLD);
  int cores = 0, shared = 0;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    int owners = 0;
    for (int other = 0; other < size; ++other) owners += all[other * CPU_SETSIZE + core];
    cores += owners > 0;
    shared += owners > 1;
  }
  if (size <= cores) EXPECT(shared == 0);
  EXPECT(cores >= 1);
  free(all);
  MPI_Finalize();
  return failures;
}
