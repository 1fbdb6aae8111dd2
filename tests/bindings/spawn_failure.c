/* A spawn that fails, with an error handler of the program: the handler finds the error codes of the spawned
   ranks in the program's array, as this ABI has them. It spawns in vain, too, and then returns, or, with the
   argument "jump", leaves by longjmp. With "copied" a tool hands the codes over only after the call: the
   handler finds nothing. */
#include <mpi.h>
#include <setjmp.h>
#include <stdio.h>
#include <string.h>

enum { kUntouched = -7 };
static jmp_buf back;
static int codes[3] = {kUntouched, kUntouched, kUntouched};
static int jumps, is_copied, depth, calls, failures;

static void look(const char* where, const int* all, int is_told) {
  const int expected = is_told ? MPI_ERR_SPAWN : kUntouched;
  if (all[0] == expected && all[1] == expected && all[2] == kUntouched) return;
  printf("%s: codes %d %d %d, not %d %d %d\n", where, all[0], all[1], all[2], expected, expected, kUntouched);
  ++failures;
}

static void spawn(int* all) {
  MPI_Comm inter;
  MPI_Comm_spawn("/nonexistent/program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_SELF, &inter, all);
}

static void handler(MPI_Comm* comm, int* code, ...) {
  int inner[3] = {kUntouched, kUntouched, kUntouched};
  (void)comm;
  (void)code;
  ++calls;
  if (depth > 0) return;
  look("in the handler", codes, !is_copied);
  ++depth;
  spawn(inner);
  --depth;
  look("after a spawn in the handler", inner, 1);
  look("in the handler, after its spawn", codes, !is_copied);
  if (jumps) longjmp(back, 1);
}

int main(int argc, char** argv) {
  MPI_Errhandler errhandler;
  MPI_Init(&argc, &argv);
  for (int i = 1; i < argc; ++i) {
    jumps |= strcmp(argv[i], "jump") == 0;
    is_copied |= strcmp(argv[i], "copied") == 0;
  }
  MPI_Comm_create_errhandler(handler, &errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, errhandler);
  if (setjmp(back) == 0) {
    spawn(codes);
    if (jumps) ++failures;
  }
  look("afterwards", codes, !is_copied || !jumps);
  /* Errors of other calls leave the codes alone. */
  depth = 1;
  codes[0] = codes[1] = MPI_ERR_SPAWN;
  MPI_Send(NULL, 0, MPI_INT, 5, 0, MPI_COMM_SELF);
  look("after another error", codes, 1);
  if (calls != 3) printf("%d calls of the handler, not 3\n", calls), ++failures;
  MPI_Errhandler_free(&errhandler);
  if (failures == 0) printf("good\n");
  MPI_Finalize();
  return failures != 0;
}
