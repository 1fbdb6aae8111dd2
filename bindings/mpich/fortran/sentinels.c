/* The variables of sentinels.h, and others that MPICH's library has for its modules and that programs may be
 * linked to. */
#include "sentinel_table.h"

/* A program's common block of the same name may be aligned to 32 bytes. */
#define CLUMP_PUBLIC __attribute__((visibility("default"), aligned(32)))

CLUMP_PUBLIC int mpipriv1_[7] = {0};
CLUMP_PUBLIC int mpipriv2_[6] = {0};
CLUMP_PUBLIC char mpiprivc_[2] = {' ', ' '};
CLUMP_PUBLIC int mpifcmb5_ = 0;
CLUMP_PUBLIC int mpifcmb9_ = 0;
CLUMP_PUBLIC int mpifcmba_ = 0;
CLUMP_PUBLIC int MPIR_F08_MPI_BOTTOM = 0;
CLUMP_PUBLIC int MPIR_F08_MPI_IN_PLACE = 0;
CLUMP_PUBLIC int MPIR_F08_MPI_STATUS_IGNORE_OBJ[5] = {0};
CLUMP_PUBLIC int MPIR_F08_MPI_STATUSES_IGNORE_OBJ[5] = {0};
CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_errcodes_ignore = 0;
CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_unweighted = 0;
CLUMP_PUBLIC int __mpi_f08_link_constants_MOD_mpi_weights_empty = 0;
CLUMP_PUBLIC char __mpi_f08_link_constants_MOD_mpi_argv_null = ' ';
CLUMP_PUBLIC char __mpi_f08_link_constants_MOD_mpi_argvs_null = ' ';

/* By symbols, so that ld.so and the loader of images bind them as they bind what the program uses. */
CLUMP_PUBLIC const struct clump_sentinel mpi_clump_sentinels_[] = {
    CLUMP_SENTINEL(mpipriv1_),
    CLUMP_SENTINEL(mpipriv2_),
    CLUMP_SENTINEL(mpiprivc_),
    CLUMP_SENTINEL(mpifcmb5_),
    CLUMP_SENTINEL(mpifcmb9_),
    CLUMP_SENTINEL(mpifcmba_),
    CLUMP_SENTINEL(MPIR_F08_MPI_BOTTOM),
    CLUMP_SENTINEL(MPIR_F08_MPI_IN_PLACE),
    CLUMP_SENTINEL(MPIR_F08_MPI_STATUS_IGNORE_OBJ),
    CLUMP_SENTINEL(MPIR_F08_MPI_STATUSES_IGNORE_OBJ),
    CLUMP_SENTINEL(__mpi_f08_link_constants_MOD_mpi_errcodes_ignore),
    CLUMP_SENTINEL(__mpi_f08_link_constants_MOD_mpi_unweighted),
    CLUMP_SENTINEL(__mpi_f08_link_constants_MOD_mpi_weights_empty),
    CLUMP_SENTINEL(__mpi_f08_link_constants_MOD_mpi_argv_null),
    CLUMP_SENTINEL(__mpi_f08_link_constants_MOD_mpi_argvs_null),
    {0, 0, 0},
};
__attribute__((visibility("protected"))) struct clump_other_sentinels mpi_clump_other_sentinels_;

/* C's names of Fortran's MPI_STATUS_IGNORE and MPI_STATUSES_IGNORE: variables of the C library, which has no
 * Fortran. */
extern int *MPI_F_STATUS_IGNORE, *MPI_F_STATUSES_IGNORE, *MPI_F08_STATUS_IGNORE, *MPI_F08_STATUSES_IGNORE;

__attribute__((constructor)) static void tell_c(void) {
  MPI_F_STATUS_IGNORE = mpipriv1_ + 2;
  MPI_F_STATUSES_IGNORE = mpipriv2_;
  MPI_F08_STATUS_IGNORE = MPIR_F08_MPI_STATUS_IGNORE_OBJ;
  MPI_F08_STATUSES_IGNORE = MPIR_F08_MPI_STATUSES_IGNORE_OBJ;
}
