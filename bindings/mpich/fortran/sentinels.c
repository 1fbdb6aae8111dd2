/* The variables of sentinels.h, and others that MPICH's library has for its modules and that programs may be
 * linked to. */
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
