/* What a program with or without the rights of its file obeys: "secure rank size eager_limit variable". With
   `spawn FOLDER PROGRAM` it enters the folder and has a job of the program started there, or prints why there
   is none. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

static long long eager_limit(void) {
  int provided, index, count;
  MPI_Count value = -1;
  MPI_T_cvar_handle handle;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_cvar_get_index("eager_limit", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) == MPI_SUCCESS) {
    MPI_T_cvar_read(handle, &value);
    MPI_T_cvar_handle_free(&handle);
  }
  MPI_T_finalize();
  return value;
}

static int spawn(const char* folder, const char* program) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  MPI_Comm children;
  if (chdir(folder) != 0) return 1;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int code = MPI_Comm_spawn(program, MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_SELF, &children,
                                  MPI_ERRCODES_IGNORE);
  MPI_Error_string(code, text, &length);
  printf("spawned: %s\n", code == MPI_SUCCESS ? "yes" : text);
  return 0;
}

int main(int argc, char** argv) {
  int rank, size, failed = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc > 3 && strcmp(argv[1], "spawn") == 0) {
    failed = spawn(argv[2], argv[3]);
  } else {
    const char* const own = getenv("RIGHTS_OWN");
    printf("%lu %d %d %lld %s\n", getauxval(AT_SECURE), rank, size, eager_limit(), own != NULL ? own : "-");
  }
  MPI_Finalize();
  return failed;
}
