/* The variables of sentinels.h. */
#include "sentinel_table.h"

/* A program's common block of the same name may be aligned to 32 bytes. */
#define CLUMP_PUBLIC __attribute__((visibility("default"), aligned(32)))

CLUMP_PUBLIC int mpi_fortran_bottom_ = 0;
CLUMP_PUBLIC int mpi_fortran_in_place_ = 0;
CLUMP_PUBLIC int mpi_fortran_status_ignore_[6] = {0};
CLUMP_PUBLIC int mpi_fortran_statuses_ignore_[6] = {0};
CLUMP_PUBLIC int mpi_fortran_errcodes_ignore_ = 0;
CLUMP_PUBLIC int mpi_fortran_unweighted_ = 0;
CLUMP_PUBLIC int mpi_fortran_weights_empty_ = 0;
CLUMP_PUBLIC char mpi_fortran_argv_null_ = ' ';
CLUMP_PUBLIC char mpi_fortran_argvs_null_ = ' ';

/* By symbols, so that ld.so and the loader of images bind them as they bind what the program uses. */
CLUMP_PUBLIC const struct clump_sentinel mpi_clump_sentinels_[] = {
    CLUMP_SENTINEL(mpi_fortran_bottom_),          CLUMP_SENTINEL(mpi_fortran_in_place_),
    CLUMP_SENTINEL(mpi_fortran_status_ignore_),   CLUMP_SENTINEL(mpi_fortran_statuses_ignore_),
    CLUMP_SENTINEL(mpi_fortran_errcodes_ignore_), CLUMP_SENTINEL(mpi_fortran_unweighted_),
    CLUMP_SENTINEL(mpi_fortran_weights_empty_),   CLUMP_SENTINEL(mpi_fortran_argv_null_),
    CLUMP_SENTINEL(mpi_fortran_argvs_null_),      {0, 0, 0},
};
__attribute__((visibility("protected"))) struct clump_other_sentinels mpi_clump_other_sentinels_;

/* C's names of Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: variables of the C library, which has no
 * Fortran. */
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

__attribute__((constructor)) static void tell_c(void) {
  MPI_F_STATUS_IGNORE = MPI_F08_STATUS_IGNORE = mpi_fortran_status_ignore_;
  MPI_F_STATUSES_IGNORE = MPI_F08_STATUSES_IGNORE = mpi_fortran_statuses_ignore_;
}
