/* Variables that MPICH's header declares. Programs have copies of them, so only their values count: they are
   those of the standard's ABI. */
#define PUBLIC __attribute__((visibility("default")))

/* Values of a program without Fortran: the library for Fortran sets those of others (fortran/sentinels.c). */
static int no_status[8];

PUBLIC int* const MPI_UNWEIGHTED = (int*)10;
PUBLIC int* const MPI_WEIGHTS_EMPTY = (int*)11;
PUBLIC void* const MPI_T_PVAR_ALL_HANDLES = (void*)1;
PUBLIC int* MPI_F_STATUS_IGNORE = no_status;
PUBLIC int* MPI_F_STATUSES_IGNORE = no_status;
/* Of the library for Fortran 2008, which MPICH's header declares all the same. */
PUBLIC int* MPI_F08_STATUS_IGNORE = no_status;
PUBLIC int* MPI_F08_STATUSES_IGNORE = no_status;
