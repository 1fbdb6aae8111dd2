/* Stands for an MPI library that is not the standard ABI. */
int MPI_Init(void* argc, void* argv) { return argc == argv ? 0 : 1; }
int MPI_Comm_rank(void* comm, int* rank) { return comm == rank; }
