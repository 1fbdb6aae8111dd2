/* A C program that knows nothing of Clump: every kind of variable with a life longer than a call must be the
   rank's own, and addresses stored in variables must lead to the rank's own. Every rank writes its number
   everywhere, all wait for each other, then all look. */
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures, rank = -1, size;

#define EXPECT(condition)                                                            \
  do {                                                                               \
    if (!(condition)) {                                                              \
      ++failures;                                                                    \
      fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #condition); \
    }                                                                                \
  } while (0)

int zero;            /* .bss */
int with_value = 41; /* .data */
static char text[16] = "start";
static struct {
  int* where;
  char* what;
  int (*function)(void);
} addresses;
static int get_zero(void) { return zero; }
static int* const pointer_to_zero = &zero; /* relocated, then read-only */
int (*const table[])(void) = {get_zero};
static _Thread_local int of_thread = 7;
extern int library_value; /* in a shared library of the program's own: copied into the program, if not PIC */
int library_add(int);
int* library_address(void);

static int calls_so_far(void) {
  static int calls;
  return ++calls;
}

static void* in_thread(void* argument) {
  (void)argument;
  int* seen = malloc(2 * sizeof *seen);
  seen[0] = with_value; /* a thread of the rank sees the rank's globals */
  seen[1] = of_thread;  /* but has thread-local variables of its own */
  of_thread = -1;
  return seen;
}

static void write_everything(void) {
  zero = rank;
  with_value += rank;
  snprintf(text, sizeof text, "rank %d", rank);
  addresses.where = &zero;
  addresses.what = text;
  addresses.function = get_zero;
  of_thread = 1000 + rank;
  library_value += rank;
  library_add(1);
  for (int i = 0; i < rank % 5; ++i) calls_so_far();
  setenv("PRIVACY", text, 1);
  errno = rank;
}

static void look_at_everything(void) {
  EXPECT(errno == rank);
  EXPECT(zero == rank);
  EXPECT(with_value == 41 + rank);
  char expected[16];
  snprintf(expected, sizeof expected, "rank %d", rank);
  EXPECT(strcmp(text, expected) == 0);
  EXPECT(addresses.where == &zero && *addresses.where == rank);
  EXPECT(addresses.what == text);
  EXPECT(addresses.function() == rank);
  EXPECT(pointer_to_zero == &zero && *pointer_to_zero == rank);
  EXPECT(table[0]() == rank);
  EXPECT(of_thread == 1000 + rank);
  EXPECT(library_value == 100 + rank + 1);
  EXPECT(library_address() == &library_value);
  EXPECT(calls_so_far() == rank % 5 + 1);
  EXPECT(getenv("PRIVACY") != NULL && strcmp(getenv("PRIVACY"), expected) == 0);

  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, in_thread, NULL) == 0);
  void* result = NULL;
  EXPECT(pthread_join(thread, &result) == 0);
  const int* seen = result;
  EXPECT(seen[0] == 41 + rank);
  EXPECT(seen[1] == 7);
  EXPECT(of_thread == 1000 + rank);
  free(result);
}

static void talk(void) {
  int sum = 0, from_left = -1;
  EXPECT(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD) == MPI_SUCCESS);
  EXPECT(sum == size * (size - 1) / 2);
  const int right = (rank + 1) % size, left = (rank + size - 1) % size;
  MPI_Status status;
  MPI_Sendrecv(&with_value, 1, MPI_INT, right, 5, &from_left, 1, MPI_INT, left, 5, MPI_COMM_WORLD, &status);
  EXPECT(from_left == 41 + left);
  EXPECT(status.MPI_SOURCE == left && status.MPI_TAG == 5);
}

int main(int argc, char** argv) {
  EXPECT(argc == 3 && strcmp(argv[1], "one") == 0 && strcmp(argv[2], "two words") == 0);
  EXPECT(zero == 0 && with_value == 41 && library_value == 100 && of_thread == 7);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  write_everything();
  const int kept = errno;
  MPI_Barrier(MPI_COMM_WORLD);
  errno = kept;
  look_at_everything();
  talk();
  int all_failures = 0;
  MPI_Allreduce(&failures, &all_failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", size, all_failures);
  MPI_Finalize();
  return all_failures != 0;
}
