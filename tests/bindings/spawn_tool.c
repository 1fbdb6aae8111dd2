/* A tool for the standard's ABI, between a facade and the MPI library: PMPI_Comm_spawn is the facade's, so it
   calls the next library's MPI_Comm_spawn. It sees the error codes of spawned ranks as MPI defines them for
   its ABI. With OWN_CODES it passes on an array of its own, and copies what has been written there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MOST 32
#define UNTOUCHED (-7)

typedef struct {
  int own[MOST];
  int* passed;
} Codes;

static int* begin(Codes* codes, int* array_of_errcodes) {
  codes->passed = array_of_errcodes;
  if (getenv("OWN_CODES") == NULL || array_of_errcodes == MPI_ERRCODES_IGNORE) return codes->passed;
  for (int i = 0; i < MOST; ++i) codes->own[i] = UNTOUCHED;
  return codes->passed = codes->own;
}

static void end(const Codes* codes, int* array_of_errcodes) {
  const char* wrong = NULL;
  if (array_of_errcodes == MPI_ERRCODES_IGNORE) return;
  if ((uintptr_t)array_of_errcodes % _Alignof(int) != 0)
    wrong = "no address of an int";
  else
    for (int i = 0; i < MOST && codes->passed[i] != UNTOUCHED; ++i) {
      if (codes->passed[i] != MPI_SUCCESS && codes->passed[i] != MPI_ERR_SPAWN) wrong = "another ABI's code";
      if (codes->passed != array_of_errcodes) array_of_errcodes[i] = codes->passed[i];
    }
  printf("codes: %s\n", wrong != NULL ? wrong : "the standard's");
}

int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int array_of_errcodes[]) {
  Codes codes;
  int (*const next)(const char*, char*[], int, MPI_Info, int, MPI_Comm, MPI_Comm*, int[]) =
      dlsym(RTLD_NEXT, "MPI_Comm_spawn");
  const int result =
      next(command, argv, maxprocs, info, root, comm, intercomm, begin(&codes, array_of_errcodes));
  end(&codes, array_of_errcodes);
  return result;
}

int MPI_Comm_spawn_multiple(int count, char* array_of_commands[], char** array_of_argv[],
                            const int array_of_maxprocs[], const MPI_Info array_of_info[], int root,
                            MPI_Comm comm, MPI_Comm* intercomm, int array_of_errcodes[]) {
  Codes codes;
  int (*const next)(int, char*[], char**[], const int[], const MPI_Info[], int, MPI_Comm, MPI_Comm*, int[]) =
      dlsym(RTLD_NEXT, "MPI_Comm_spawn_multiple");
  const int result = next(count, array_of_commands, array_of_argv, array_of_maxprocs, array_of_info, root,
                          comm, intercomm, begin(&codes, array_of_errcodes));
  end(&codes, array_of_errcodes);
  return result;
}
