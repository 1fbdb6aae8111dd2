/* Right: each rank's tool has counted what its rank has called, and nothing else; the program asks the tool,
 * and the tool of tool_pmpi.c checks itself in MPI_Finalize. Arguments: the tools that have been loaded. */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong;

static void expect(const char* what, int rank, long is, long should_be) {
  if (is == should_be) return;
  ++wrong;
  printf("rank %d: %s is %ld, not %ld\n", rank, what, is, should_be);
}

static void* function(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found == NULL) {
    printf("no %s: the tool is not loaded\n", name);
    exit(1);
  }
  return found;
}

static void* nothing(void* argument) { return argument; }

static void check_pmpi(int rank) {
  expect("the tool's rank", rank, ((int (*)(void))function("tool_rank"))(), rank);
  expect("constructors of the tool", rank, ((int (*)(void))function("tool_constructed"))(), 1);
  expect("sends", rank, ((long (*)(void))function("tool_sends"))(), 10 * (rank + 1));
  expect("sends of this thread", rank, ((long (*)(void))function("tool_sends_of_thread"))(), 10 * (rank + 1));
}

static void check_next(int rank) {
  long (*const calls)(const char*) = (long (*)(const char*))function("tool_calls");
  const long before_barriers = calls("MPI_Barrier"), before_opens = calls("fopen"),
             before_writes = calls("write");
  const long before_threads = calls("pthread_create");
  for (int i = 0; i <= rank; ++i) {
    FILE* file = fopen("/dev/null", "w");
    fclose(file);
    MPI_Barrier(MPI_COMM_SELF);
    (void)!write(-1, "", 0);
    pthread_t thread;
    pthread_create(&thread, NULL, nothing, NULL);
    pthread_join(thread, NULL);
  }
  expect("constructed", rank, calls("constructed"), 1);
  expect("MPI_Barrier", rank, calls("MPI_Barrier") - before_barriers, rank + 1);
  expect("fopen", rank, calls("fopen") - before_opens, rank + 1);
  expect("write", rank, calls("write") - before_writes, rank + 1);
  expect("pthread_create", rank, calls("pthread_create") - before_threads, rank + 1);

  /* What the C library allocates for a rank comes from malloc() as the rank has it. */
  long (*const allocated)(void) = (long (*)(void))function("tool_allocated");
  const long blocks = allocated();
  for (int i = 0; i < 100; ++i) {
    char* volatile copy = strdup("a block that the C library allocates");
    free(copy);
    if (i % 10 == 0) PMPI_Barrier(MPI_COMM_WORLD);
  }
  const long more = allocated() - blocks; /* the C library may have needed some for itself */
  if (more < 100 || more > 150) expect("blocks of strdup", rank, more, 100);
}

/* One for all ranks of a process: these ranks share one. */
static void check_allocator(int rank) {
  long mine = (long)((void*(*)(void))function("allocator_memory"))(), first = mine;
  MPI_Bcast(&first, 1, MPI_LONG, 0, MPI_COMM_WORLD);
  expect("the allocator's memory", rank, mine, first);
  char* const block = malloc(1000);
  if (block < (char*)mine || block > (char*)mine + (1 << 30)) expect("a block of the allocator", rank, 0, 1);
  free(block);
}

int main(int argc, char** argv) {
  int rank, all;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 10 * (rank + 1); ++i) {
    int sent = i, received = -1;
    MPI_Request request;
    MPI_Irecv(&received, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &request);
    MPI_Send(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (received != i) ++wrong;
  }
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "pmpi") == 0) check_pmpi(rank);
    if (strcmp(argv[i], "allocator") == 0) check_allocator(rank);
    if (strcmp(argv[i], "next") == 0) check_next(rank);
  }
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
