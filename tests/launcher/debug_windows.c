/* For debuggers: ranks with open epochs and locks of two windows, until rank 0 has read a line. */
#include <mpi.h>
#include <stdio.h>

/* As the kernel counts. */
static int process(void) {
  int number = 0;
  FILE* file = fopen("/proc/self/stat", "r");
  if (file == NULL || fscanf(file, "%d", &number) != 1) return 0;
  fclose(file);
  return number;
}

static MPI_Win window(const char* name) {
  MPI_Win win;
  int* base;
  MPI_Win_allocate(64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
  MPI_Win_set_name(win, name);
  return win;
}

int main(int argc, char** argv) {
  int rank, token = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Win table = window("table"), halo = window("halo"), unused = window("unused");
  MPI_Win_fence(0, unused);
  MPI_Group all, two, three;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Group_incl(all, 1, &(int){2}, &two);
  MPI_Group_incl(all, 1, &(int){3}, &three);
  if (rank == 0) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, table);
  if (rank == 2) MPI_Win_post(three, 0, halo);
  if (rank == 3) MPI_Win_start(two, 0, halo);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d %d\n", rank, process());
  fflush(stdout);
  if (rank == 0) {
    char line[8];
    if (fgets(line, sizeof line, stdin) == NULL) return 1;
    MPI_Win_unlock(0, table);
    MPI_Send(&token, 1, MPI_INT, 3, 7, MPI_COMM_WORLD);
  }
  if (rank == 1) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, table);
    MPI_Win_unlock(0, table);
  }
  if (rank == 2) MPI_Win_wait(halo);
  if (rank == 3) {
    MPI_Recv(&token, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_complete(halo);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&two);
  MPI_Group_free(&three);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, unused);
  MPI_Win_free(&table);
  MPI_Win_free(&halo);
  MPI_Win_free(&unused);
  MPI_Finalize();
  return 0;
}
