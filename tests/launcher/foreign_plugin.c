/* A library that is made for another MPI library, as a Python module or a plugin would be. */
int MPI_Init(void* argc, void* argv);
int MPI_Comm_rank(void* comm, int* rank);

int begin(void) { return MPI_Init(0, 0); }

/* The communicator of all ranks, as the other library has it. */
int rank_of(void) {
  int rank = -1;
  MPI_Comm_rank((void*)0x44000000, &rank);
  return rank;
}
