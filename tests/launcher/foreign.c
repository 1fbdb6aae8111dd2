int MPI_Init(void* argc, void* argv);
int main(void) { return MPI_Init(0, 0); }
