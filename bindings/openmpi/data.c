/* Variables that Open MPI's header declares, and those that libmpi_cxx.so.40 has references to. */
#define PUBLIC __attribute__((visibility("default")))

/* Values of a program without Fortran: the library for Fortran sets those of others (fortran/sentinels.c). */
static int no_status[6];

PUBLIC int* MPI_F_STATUS_IGNORE = no_status;
PUBLIC int* MPI_F_STATUSES_IGNORE = no_status;
PUBLIC int* MPI_F08_STATUS_IGNORE = no_status;
PUBLIC int* MPI_F08_STATUSES_IGNORE = no_status;

PUBLIC int ompi_errcode_intern_lastused;
PUBLIC long ompi_errcodes_intern[15];
PUBLIC long ompi_registered_datareps[8];
