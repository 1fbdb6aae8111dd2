/* For debuggers: every rank has variables of its own, and all but rank 0 wait in a function of the program
   until rank 0 has read a line. With an argument nobody reads one, and all wait for ever. */
#include <mpi.h>
#include <stdio.h>

int global;
extern int elsewhere; /* debug_more.c */
void set_elsewhere(int rank);
static __thread int thread_local_one;

/* As the kernel counts. */
static int process(void) {
  int number = 0;
  FILE* file = fopen("/proc/self/stat", "r");
  if (file == NULL || fscanf(file, "%d", &number) != 1) return 0;
  fclose(file);
  return number;
}

static void waits_here(int local) {
  int received = -local;
  MPI_Recv(&received, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (received != local || global != 99 + local || elsewhere != 999 + local ||
      thread_local_one != 499 + local)
    MPI_Abort(MPI_COMM_WORLD, 9); /* somebody has changed something */
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  global = 100 + rank;
  thread_local_one = 500 + rank;
  set_elsewhere(rank);
  printf("%d %d\n", rank, process());
  fflush(stdout);
  if (rank > 0 || argc > 1) {
    waits_here(rank + 1);
  } else {
    char line[8];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    for (int to = 1; to < size; ++to) {
      int local = to + 1;
      MPI_Send(&local, 1, MPI_INT, to, 7, MPI_COMM_WORLD);
    }
  }
  MPI_Finalize();
  return 0;
}
