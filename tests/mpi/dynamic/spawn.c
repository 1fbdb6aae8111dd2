/* MPI_Comm_spawn and MPI_Comm_spawn_multiple (MPI-5.0 section 11.8). The program is its own child: its first
   argument says what it is; that of
   the parents is the path of another program. Where ranks are processes, the children are a job of their own.
 */
#include <fenv.h>
#include <unistd.h>

#include "check.h"

static int rank, size;

static int attribute(int key) {
  int *value = NULL, flag = 0;
  CHECK_OK(MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag));
  return flag ? *value : -1;
}
static int appnum(void) { return attribute(MPI_APPNUM); }

/* What parents and children do together. */
static void work(MPI_Comm inter, int is_child) {
  int remote = 0, sum = 0, merged_size = 0;
  CHECK_OK(MPI_Comm_remote_size(inter, &remote));
  for (int i = 0; i < remote; ++i) {
    int theirs = -1, mine = rank;
    CHECK_OK(MPI_Sendrecv(&mine, 1, MPI_INT, i, 1, &theirs, 1, MPI_INT, i, 1, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, i);
  }
  MPI_Comm merged;
  CHECK_OK(MPI_Intercomm_merge(inter, is_child, &merged));
  CHECK_OK(MPI_Comm_size(merged, &merged_size));
  CHECK_EQ(merged_size, size + remote);
  const int one = 1;
  CHECK_OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, merged));
  CHECK_EQ(sum, merged_size);
  CHECK_OK(MPI_Comm_free(&merged));
}

/* A static variable is each rank's own, that of a child, too. */
static int started;

static int child(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL, again = MPI_COMM_NULL;
  CHECK_EQ(++started, 1);
  CHECK_EQ(fegetround(), FE_TONEAREST); /* as a process begins, although the parents round upward */
  CHECK_OK(MPI_Comm_get_parent(&parent));
  CHECK(parent != MPI_COMM_NULL);
  CHECK_OK(MPI_Comm_get_parent(&again));
  CHECK_EQ(parent, again);
  if (strcmp(argv[1], "three") == 0) {
    CHECK_EQ(size, 3);
    CHECK_EQ(argc, 4);
    CHECK_STR(argv[2], "two words");
    CHECK_STR(argv[3], "");
    CHECK_EQ(appnum(), 0);
  } else if (strcmp(argv[1], "universe") == 0) {
    const int parents = atoi(argv[2]);
    CHECK_EQ(attribute(MPI_UNIVERSE_SIZE), parents > size ? parents : size);
    CHECK_EQ(argc, 7);
    CHECK_STR(argv[3], ":");
    CHECK_STR(argv[4], "-n");
    CHECK_STR(argv[5], "::");
    CHECK_STR(argv[6], ":");
  } else if (strcmp(argv[1], "first") == 0) {
    CHECK_EQ(size, 3);
    CHECK_EQ(appnum(), 0);
    CHECK(rank < 1);
  } else if (strcmp(argv[1], "second") == 0) {
    CHECK_EQ(size, 3);
    CHECK_EQ(appnum(), 1);
    CHECK(rank >= 1);
  } else if (strcmp(argv[1], "wishes") == 0) {
    char folder[4096] = "";
    CHECK(getcwd(folder, sizeof folder) != NULL);
    CHECK_STR(folder, "/");
    CHECK(getenv("SPAWN_TEST") != NULL && strcmp(getenv("SPAWN_TEST"), "yes") == 0);
    CHECK_EQ(size, 2);
    MPI_Errhandler handler;
    CHECK_OK(MPI_Comm_get_errhandler(MPI_COMM_SELF, &handler));
    CHECK_EQ(handler, MPI_ERRORS_RETURN);
  }
  work(parent, 1);
  /* As the parents do: see two_programs(). */
  if (strcmp(argv[1], "first") == 0 || strcmp(argv[1], "second") == 0)
    CHECK_OK(MPI_Comm_free(&parent));
  else
    CHECK_OK(MPI_Comm_disconnect(&parent));
  /* A communicator that gets the number of the freed one is not the parents'. */
  for (int i = 0; i < 200; ++i) {
    MPI_Comm other;
    CHECK_OK(MPI_Comm_get_parent(&again));
    CHECK_EQ(again, MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_dup(MPI_COMM_SELF, &other));
    CHECK_OK(MPI_Comm_get_parent(&again));
    CHECK_EQ(again, MPI_COMM_NULL);
    CHECK_OK(MPI_Comm_free(&other));
  }
  MPI_Finalize();
  return check_result();
}

static void check_codes(const int* codes, int count, int expected) {
  for (int i = 0; i < count; ++i) CHECK_EQ(codes[i], expected);
}

static void one_program(const char* program) {
  char* arguments[] = {"three", "two words", "", NULL};
  int codes[3] = {-1, -1, -1};
  MPI_Comm inter = MPI_COMM_NULL;
  const int root = size - 1;
  CHECK_OK(MPI_Comm_spawn(rank == root ? program : NULL, rank == root ? arguments : NULL,
                          rank == root ? 3 : -7, MPI_INFO_NULL, root, MPI_COMM_WORLD, &inter, codes));
  check_codes(codes, 3, MPI_SUCCESS);
  work(inter, 0);
  CHECK_OK(MPI_Comm_disconnect(&inter));
}

/* The universe is that of the parents, and arguments may look like a launcher's own. */
static void universe(const char* program) {
  char number[20];
  snprintf(number, sizeof number, "%d", attribute(MPI_UNIVERSE_SIZE));
  char* arguments[] = {"universe", number, ":", "-n", "::", ":", NULL};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(
      MPI_Comm_spawn(program, arguments, 3, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, MPI_ERRCODES_IGNORE));
  work(inter, 0);
  CHECK_OK(MPI_Comm_disconnect(&inter));
}

static void two_programs(const char* program) {
  char* commands[] = {(char*)program, (char*)program};
  char *first[] = {"first", NULL}, *second[] = {"second", NULL};
  char** arguments[] = {first, second};
  const int counts[] = {1, 2};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, MPI_COMM_WORLD, &inter,
                                   MPI_ERRCODES_IGNORE));
  work(inter, 0);
  CHECK_OK(MPI_Comm_free(&inter));
}

static void wishes(const char* program) {
  char* arguments[] = {"wishes", NULL};
  int codes[5] = {-1, -1, -1, -1, -1};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "wdir", "/"));
  CHECK_OK(MPI_Info_set(info, "env", "SPAWN_TEST=no\nSPAWN_TEST=yes"));
  CHECK_OK(MPI_Info_set(info, "soft", "0:2,7,100:200:50"));
  CHECK_OK(MPI_Info_set(info, "host", "localhost"));
  CHECK_OK(MPI_Info_set(info, "mpi_initial_errhandler", "mpi_errors_return"));
  CHECK_OK(MPI_Comm_spawn(program, arguments, 5, info, 0, MPI_COMM_WORLD, &inter, codes));
  check_codes(codes, 2, MPI_SUCCESS);
  check_codes(codes + 2, 3, MPI_ERR_SPAWN);
  work(inter, 0);
  CHECK_OK(MPI_Comm_disconnect(&inter));
  CHECK_OK(MPI_Info_set(info, "host", "no-such-host"));
  CHECK_CLASS(MPI_Comm_spawn(program, arguments, 5, info, 0, MPI_COMM_WORLD, &inter, codes), MPI_ERR_SPAWN);
  check_codes(codes, 5, MPI_ERR_SPAWN);
  CHECK_OK(MPI_Info_free(&info));
}

/* Ranks of another program, twice: it is loaded once. */
static void another_program(const char* program) {
  char* arguments[] = {"worker", NULL};
  for (int round = 0; round < 2; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    int codes[2] = {-1, -1}, value = 2;
    CHECK_OK(MPI_Comm_spawn(program, arguments, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes));
    check_codes(codes, 2, MPI_SUCCESS);
    CHECK_OK(MPI_Bcast(&value, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, inter));
    for (int i = 0; i < 2 && rank == 0; ++i) {
      CHECK_OK(MPI_Recv(&value, 1, MPI_INT, i, 0, inter, MPI_STATUS_IGNORE));
      CHECK_EQ(value, 42 + i);
    }
    CHECK_OK(MPI_Comm_disconnect(&inter));
  }
}

static void bad(const char* program) {
  int codes[2] = {-1, -1};
  MPI_Comm inter = MPI_COMM_WORLD;
  CHECK_CLASS(
      MPI_Comm_spawn("./no-such-program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
      MPI_ERR_SPAWN);
  CHECK_EQ(inter, MPI_COMM_NULL);
  check_codes(codes, 2, MPI_ERR_SPAWN);
  CHECK_CLASS(
      MPI_Comm_spawn("no-such-program", MPI_ARGV_NULL, 2, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
      MPI_ERR_SPAWN);
  CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 0, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
              MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_spawn(program, MPI_ARGV_NULL, 100000, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter,
                             MPI_ERRCODES_IGNORE),
              MPI_ERR_SPAWN);
  /* A program that ends without MPI_Init. */
  CHECK_CLASS(MPI_Comm_spawn("/bin/sh", MPI_ARGV_NULL, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &inter, codes),
              MPI_ERR_SPAWN);
  check_codes(codes, 1, MPI_ERR_SPAWN);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (argc > 1 && argv[1][0] != '/') return child(argc, argv);
  CHECK_EQ(fesetround(FE_UPWARD), 0);
  one_program(argv[0]);
  universe(argv[0]);
  two_programs(argv[0]);
  wishes(argv[0]);
  if (argc > 1) another_program(argv[1]);
  bad(argv[0]);
  MPI_Finalize();
  return check_result();
}
