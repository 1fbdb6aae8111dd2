/* Needs the library for Fortran, as a program in Fortran does. */
void mpi_init_(int* error);

int main(void) {
  int error = 0;
  mpi_init_(&error);
  return error;
}
