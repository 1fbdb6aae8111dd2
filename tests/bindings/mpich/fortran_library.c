/* Stands for the library for Fortran. */
void mpi_init_(int* error);
void mpi_init_(int* error) { *error = 0; }
