/* What the library has for functions of the program does not grow with the number of objects that are made
   and freed, nor with calls that fail. Compiled with the mpi.h of a family; one rank. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { CALLS = 100000, FIRST = 20000, MOST_GROWTH = 2000000 };

static int copy(MPI_Comm from, int key, void* state, void* value, void* copied, int* flag) {
  (void)from, (void)key, (void)state, (void)value, (void)copied;
  *flag = 0;
  return MPI_SUCCESS;
}
static int destroy(MPI_Comm comm, int key, void* value, void* state) {
  (void)comm, (void)key, (void)value, (void)state;
  return MPI_SUCCESS;
}

static int query(void* state, MPI_Status* status) { return (void)state, (void)status, MPI_SUCCESS; }
static int release(void* state) { return (void)state, MPI_SUCCESS; }
static int cancel(void* state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

static int make_key(void) {
  int key = MPI_KEYVAL_INVALID;
  int code = MPI_Comm_create_keyval(copy, destroy, &key, NULL);
  if (code == MPI_SUCCESS) code = MPI_Comm_free_keyval(&key);
  return code == MPI_SUCCESS;
}
static int fail_to_start(void) {
  return MPI_Grequest_start(query, release, cancel, NULL, NULL) != MPI_SUCCESS;
}
static int fail_to_register(void) {
  return MPI_Register_datarep("none", NULL, NULL, NULL, NULL) != MPI_SUCCESS;
}

static long resident_bytes(void) {
  long all = 0, resident = 0;
  FILE* file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) exit(2);
  fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

static int failures;

static void repeat(const char* name, int (*work)(void)) {
  int right = 0;
  for (int i = 0; i < FIRST; ++i) right += work(); /* texts of the last errors are kept, too */
  const long before = resident_bytes();
  for (int i = 0; i < CALLS; ++i) right += work();
  const long growth = resident_bytes() - before;
  if (right == FIRST + CALLS && growth < MOST_GROWTH) return;
  fprintf(stderr, "%s: %d of %d calls did what they should; %ld bytes more\n", name, right, FIRST + CALLS,
          growth);
  ++failures;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  repeat("keys", make_key);
  repeat("generalised requests that are refused", fail_to_start);
  repeat("representations that are refused", fail_to_register);
  MPI_Finalize();
  return failures != 0;
}
