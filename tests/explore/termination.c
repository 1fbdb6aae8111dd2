// The master takes the work for done when no result has come for a while.
#include "explore.h"

enum { kTask, kResult, kStop, kTasks = 8, kPatience = 6 };

static void lead(int workers) {
  int tasks[kTasks], sum = 0, results = 0, quiet = 0;
  MPI_Request sends[kTasks];
  for (int i = 0; i < kTasks; ++i) {
    tasks[i] = i;
    MPI_Isend(&tasks[i], 1, MPI_INT, 1 + i % workers, kTask, MPI_COMM_WORLD, &sends[i]);
  }
#ifdef MENDED
  while (results < kTasks) {
#else
  while (quiet < kPatience) {
#endif
    int there, result;
    MPI_Iprobe(MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
    if (!there) {
      ++quiet;
      work(1);
      continue;
    }
    MPI_Recv(&result, 1, MPI_INT, MPI_ANY_SOURCE, kResult, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    sum += result;
    ++results;
    quiet = 0;
  }
  for (int worker = 1; worker <= workers; ++worker) MPI_Send(NULL, 0, MPI_INT, worker, kStop, MPI_COMM_WORLD);
  EXPECT(sum == kTasks * (kTasks + 1) / 2, "%d of %d results, sum %d", results, kTasks, sum);
}

static void follow(void) {
  for (;;) {
    int task;
    MPI_Status status;
    MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kStop) return;
    ++task;
    MPI_Send(&task, 1, MPI_INT, 0, kResult, MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (rank_in_world() == 0)
    lead(size_of_world() - 1);
  else
    follow();
  MPI_Finalize();
  return 0;
}
