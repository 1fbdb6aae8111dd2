/* Fortran's procedures, called from C with what a Fortran program can hand over: memory that must not be read
   at ranks where an argument means nothing, and keys by the thousand. */
#define _DEFAULT_SOURCE
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef MPI_Fint Int;
void mpi_comm_spawn_(char*, char*, Int*, Int*, Int*, Int*, Int*, Int*, Int*, unsigned long, unsigned long);
void mpi_comm_spawn_multiple_(Int*, char*, char*, Int*, Int*, Int*, Int*, Int*, Int*, Int*, unsigned long,
                              unsigned long);
void mpi_comm_create_keyval_(void (*)(void), void (*)(void), Int*, MPI_Aint*, Int*);
void mpi_comm_free_keyval_(Int*, Int*);
void mpi_comm_dup_fn_(void);
void mpi_comm_null_delete_fn_(void);

static int failures, rank;

static void check(int holds, const char* what) {
  if (holds) return;
  ++failures;
  printf("does not hold: %s\n", what);
}

/* In the place of the library's, for the procedures of this program: what reaches C. */
static char got_last[9];
static int got_count, got_spawns;
int MPI_Comm_spawn(const char* command, char* argv[], int maxprocs, MPI_Info info, int root, MPI_Comm comm,
                   MPI_Comm* intercomm, int codes[]) {
  (void)command, (void)maxprocs, (void)info, (void)root, (void)comm, (void)codes;
  for (got_count = 0; argv != MPI_ARGV_NULL && argv[got_count] != NULL; ++got_count)
    strcpy(got_last, argv[got_count]);
  ++got_spawns;
  *intercomm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
int MPI_Comm_spawn_multiple(int count, char* commands[], char** arguments[], const int numbers[],
                            const MPI_Info infos[], int root, MPI_Comm comm, MPI_Comm* intercomm,
                            int codes[]) {
  (void)commands, (void)arguments, (void)numbers, (void)infos, (void)root, (void)comm, (void)codes;
  got_count = count;
  ++got_spawns;
  *intercomm = MPI_COMM_NULL;
  return MPI_SUCCESS;
}

/* Strings up to a page that cannot be read: a list without an end. */
static char* endless(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  memset(pages, 'x', page);
  mprotect(pages + page, page, PROT_NONE);
  return pages + page - 32;
}

static void spawns(void) {
  Int one = 1, info = MPI_Info_c2f(MPI_INFO_NULL), root = 0, comm = MPI_Comm_c2f(MPI_COMM_WORLD), made = 0,
      codes[4], error = -1;
  char words[3][8] = {"first   ", "second  ", "        "};
  words[0][7] = words[1][7] = words[2][7] = ' ';
  char* const list = rank == 0 ? &words[0][0] : endless();
  mpi_comm_spawn_("./x", list, &one, &info, &root, &comm, &made, codes, &error, 3, 8);
  check(error == 0 && got_spawns == 1, "MPI_COMM_SPAWN");
  check(rank == 0 ? got_count == 2 && strcmp(got_last, "second") == 0 : got_count == 0, "its arguments");
  /* The number of commands, too, means nothing at the other ranks. */
  Int count = rank == 0 ? 1 : 1 << 20;
  char* const commands = rank == 0 ? "./x     " : endless();
  mpi_comm_spawn_multiple_(&count, commands, list, rank == 0 ? &one : NULL, rank == 0 ? &info : NULL, &root,
                           &comm, &made, codes, &error, 8, 8);
  check(error == 0 && got_spawns == 2 && got_count == (rank == 0), "MPI_COMM_SPAWN_MULTIPLE");
}

static void keys(void) {
  MPI_Aint state = 5;
  Int key = 0, error = 0;
  size_t before = 0;
  for (int round = 0; round < 4000; ++round) {
    if (round == 1000) before = mallinfo2().uordblks;
    mpi_comm_create_keyval_(mpi_comm_dup_fn_, mpi_comm_null_delete_fn_, &key, &state, &error);
    mpi_comm_free_keyval_(&key, &error);
  }
  /* One block of 32 bytes for each key would be 96,000 or more, for each rank. */
  check(mallinfo2().uordblks < before + 48000, "memory of keys");
}

int main(int argc, char** argv) {
  int ranks = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  spawns();
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) keys();
  MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d failures\n", ranks, all);
  MPI_Finalize();
  return 0;
}
