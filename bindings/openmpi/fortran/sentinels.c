/* The variables of sentinels.h. */
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
