/* More ranks than can join the job, 64 at a time: the last ones are a job of their own. Where ranks are processes,
   they always are. */
#include "check.h"

int main(int argc, char** argv) {
  enum { kAtOnce = 64, kTimes = 5 };
  int rank, sum = 0;
  const int one = 1;
  MPI_Comm inter;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_get_parent(&inter);
  if (inter != MPI_COMM_NULL) {
    CHECK_OK(MPI_Reduce(&one, NULL, 1, MPI_INT, MPI_SUM, 0, inter));
    CHECK_OK(MPI_Comm_disconnect(&inter));
    MPI_Finalize();
    return check_result();
  }
  const char* as = getenv("CLUMP_RANKS");
  const int joins = as == NULL || strcmp(as, "processes") != 0;
  const int at_once = joins ? kAtOnce : 8;
  for (int i = 0; i < kTimes; ++i) {
    const double begin = MPI_Wtime();
    CHECK_OK(MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, at_once, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                            MPI_ERRCODES_IGNORE));
    CHECK_OK(MPI_Reduce(NULL, &sum, 1, MPI_INT, MPI_SUM, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    if (rank == 0) {
      CHECK_EQ(sum, at_once);
      printf("%d ranks spawned and heard of in %.1f ms\n", at_once, (MPI_Wtime() - begin) * 1e3);
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
  }
  MPI_Finalize();
  return check_result();
}
