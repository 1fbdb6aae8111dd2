/* Arguments of dynamic processes that mean something at the root only: elsewhere they may be anything, and
   nobody looks at them. And the error codes, which all ranks get. The program is its own child. */
#include "check.h"
#include "rubbish.h"

static int rank, size, root;

static void check_children(MPI_Comm* inter, int expected) {
  int remote = -1;
  CHECK_OK(MPI_Comm_remote_size(*inter, &remote));
  CHECK_EQ(remote, expected);
  CHECK_OK(MPI_Comm_disconnect(inter));
}

/* Of three ranks that are asked for, two may be left out. */
static void spawn(const char* program) {
  int codes[4] = {-7, -7, -7, -7};
  MPI_Comm inter = MPI_COMM_NULL;
  MPI_Info info = rubbish.info;
  if (rank == root) {
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "soft", "1"));
  }
  CHECK_OK(MPI_Comm_spawn(POINTER(rank == root, program), POINTER(rank == root, MPI_ARGV_NULL),
                          NUMBER(rank == root, 3), info, root, MPI_COMM_WORLD, &inter, codes));
  CHECK_EQ(codes[0], MPI_SUCCESS);
  CHECK_EQ(codes[1], MPI_ERR_SPAWN);
  CHECK_EQ(codes[2], MPI_ERR_SPAWN);
  CHECK_EQ(codes[3], -7);
  check_children(&inter, 1);
  if (rank == root) CHECK_OK(MPI_Info_free(&info));
}

static void spawn_multiple(char* program) {
  char* commands[] = {program, program};
  const int counts[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  int codes[3] = {-7, -7, -7};
  MPI_Comm inter = MPI_COMM_NULL;
  CHECK_OK(MPI_Comm_spawn_multiple(NUMBER(rank == root, 2), POINTER(rank == root, commands),
                                   POINTER(rank == root, MPI_ARGVS_NULL), POINTER(rank == root, counts),
                                   POINTER(rank == root, infos), root, MPI_COMM_WORLD, &inter, codes));
  CHECK_EQ(codes[0], MPI_SUCCESS);
  CHECK_EQ(codes[1], MPI_SUCCESS);
  CHECK_EQ(codes[2], -7);
  check_children(&inter, 2);
}

/* All ranks get the codes of what cannot be started, too. */
static void fail(void) {
  int codes[20], code;
  char* commands[] = {(char*)"/nowhere/nothing", (char*)"/nowhere/either"};
  const int counts[] = {1, 1};
  const MPI_Info infos[] = {MPI_INFO_NULL, MPI_INFO_NULL};
  MPI_Comm inter = MPI_COMM_NULL;
  for (int i = 0; i < 20; ++i) codes[i] = -7;
  code = MPI_Comm_spawn(POINTER(rank == root, "/nowhere/nothing"), POINTER(rank == root, MPI_ARGV_NULL),
                        NUMBER(rank == root, 19), rank == root ? MPI_INFO_NULL : rubbish.info, root,
                        MPI_COMM_WORLD, &inter, codes);
  CHECK_CLASS(code, MPI_ERR_SPAWN);
  for (int i = 0; i < 19; ++i) CHECK_EQ(codes[i], MPI_ERR_SPAWN);
  CHECK_EQ(codes[19], -7);
  code = MPI_Comm_spawn_multiple(NUMBER(rank == root, 2), POINTER(rank == root, commands),
                                 POINTER(rank == root, MPI_ARGVS_NULL), POINTER(rank == root, counts),
                                 POINTER(rank == root, infos), root, MPI_COMM_WORLD, &inter,
                                 MPI_ERRCODES_IGNORE);
  CHECK_CLASS(code, MPI_ERR_SPAWN);
}

/* The upper half of the ranks connects to the lower one; the leader of each is its last rank. */
static void connect_halves(void) {
  const int lower = size / 2, is_upper = rank >= lower, mine = is_upper ? size - lower : lower;
  const int leads = rank == (is_upper ? size : lower) - 1;
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm half, inter = MPI_COMM_NULL;
  const MPI_Info info = leads ? MPI_INFO_NULL : rubbish.info;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, is_upper, rank, &half));
  if (!is_upper && leads) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    /* The ranks may have different ABIs, whose MPI_MAX_PORT_NAME differ. */
    CHECK_OK(MPI_Send(port, (int)strlen(port) + 1, MPI_CHAR, size - 1, 1, MPI_COMM_WORLD));
    CHECK_OK(MPI_Comm_accept(port, info, mine - 1, half, &inter));
    CHECK_OK(MPI_Close_port(port));
  } else if (!is_upper) {
    CHECK_OK(MPI_Comm_accept(rubbish.pointer, info, mine - 1, half, &inter));
  } else {
    if (leads)
      CHECK_OK(MPI_Recv(port, sizeof port, MPI_CHAR, lower - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    CHECK_OK(MPI_Comm_connect(POINTER(leads, port), info, mine - 1, half, &inter));
  }
  check_children(&inter, size - mine);
  CHECK_OK(MPI_Comm_free(&half));
}

int main(int argc, char** argv) {
  MPI_Comm parent = MPI_COMM_NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  root = size - 1;
  MPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL) {
    MPI_Comm_disconnect(&parent);
    MPI_Finalize();
    return 0;
  }
  for (int kind = 0; kind < RUBBISH_KINDS; ++kind) {
    choose_rubbish(kind);
    if (kind == 0) spawn(argv[0]);
    if (kind == 1) spawn_multiple(argv[0]);
    fail();
    if (size > 1) connect_halves();
  }
  MPI_Finalize();
  return check_result();
}
