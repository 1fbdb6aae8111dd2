/* A program that has an MPI library inside. */
int MPI_Init(void* argc, void* argv);
int MPI_Init(void* argc, void* argv) { return argc == argv ? 0 : 1; }
int main(void) { return MPI_Init(0, 0); }
