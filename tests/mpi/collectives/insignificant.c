/* Arguments that mean something at some ranks only (the root, the leader of a group), or not beside
   MPI_IN_PLACE or MPI_NO_OP: elsewhere they may be anything, and nobody looks at them. Other such arguments
   are in tests/mpi/dynamic/insignificant.c; tests/abi/significance_test.py knows all of them. Open MPI before
   5 has no collectives that are initialised, and no sessions. */
#include "check.h"
#include "rubbish.h"

#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION < 5
#define IS_OLD
#endif

enum { MOST = 64 };

static int rank, size;

/* A communicator, as this rank sees it in a call with a root. Rank i of those that give or get something has
   number first + i * step in MPI_COMM_WORLD. */
static struct {
  MPI_Comm comm;
  int root, at_root, contributes, takes_part, in_place;
  int peers, me, first, step;
} c;

static void intracommunicator(int in_place) {
  const int root = size - 1, at_root = rank == root;
  c.comm = MPI_COMM_WORLD, c.root = root, c.at_root = at_root, c.in_place = in_place && at_root;
  c.contributes = c.takes_part = 1;
  c.peers = size, c.me = rank, c.first = 0, c.step = 1;
}

/* The even ranks have the root. */
static void intercommunicator(MPI_Comm inter) {
  int local = 0;
  MPI_Comm_rank(inter, &local);
  MPI_Comm_remote_size(inter, &c.peers);
  c.comm = inter, c.in_place = 0, c.me = local, c.first = 1, c.step = 2;
  c.at_root = rank == 0, c.contributes = rank % 2 == 1, c.takes_part = c.at_root || c.contributes;
  c.root = c.contributes ? 0 : c.at_root ? MPI_ROOT : MPI_PROC_NULL;
}

static int number_of(int i) { return c.first + i * c.step; }

#ifdef IS_OLD
#define INITIALISED(function, ...)
enum { FORMS = 2 };
#else
static void start_and_end(MPI_Request* request, int code) {
  CHECK_OK(code);
  if (code != MPI_SUCCESS) return;
  CHECK_OK(MPI_Start(request));
  CHECK_OK(MPI_Wait(request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Request_free(request));
}

#define INITIALISED(function, ...) \
  start_and_end(&request, MPI_##function##_init(__VA_ARGS__, MPI_INFO_NULL, &request))
enum { FORMS = 3 };
#endif

/* One of the forms of a collective. */
#define CALL(function, nonblocking, ...)                  \
  do {                                                    \
    MPI_Request request = MPI_REQUEST_NULL;               \
    if (form == 0) {                                      \
      CHECK_OK(MPI_##function(__VA_ARGS__));              \
    } else if (form == 1) {                               \
      CHECK_OK(MPI_##nonblocking(__VA_ARGS__, &request)); \
      CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));    \
    } else {                                              \
      INITIALISED(function, __VA_ARGS__);                 \
    }                                                     \
  } while (0)

static int in[MOST], out[MOST], ones[MOST], places[MOST];
static MPI_Datatype ints[MOST];

static void clear(void) {
  for (int i = 0; i < MOST; ++i) {
    in[i] = 1000 + i;
    out[i] = -1;
    ones[i] = 1;
    places[i] = i;
    ints[i] = MPI_INT;
  }
}

/* Of calls with a root. In place the own block is there already. */

static void* sent(void) { return c.in_place ? MPI_IN_PLACE : POINTER(c.contributes, &rank); }
static int is_sent(void) { return c.contributes && !c.in_place; }

static void check_gathered(void) {
  for (int i = 0; c.at_root && i < c.peers; ++i) CHECK_EQ(out[i], number_of(i));
}

static void gather(int form) {
  if (c.in_place) out[c.me] = rank;
  CALL(Gather, Igather, sent(), NUMBER(is_sent(), 1), TYPE(is_sent(), MPI_INT), POINTER(c.at_root, out),
       NUMBER(c.at_root, 1), TYPE(c.at_root, MPI_INT), c.root, c.comm);
  check_gathered();
}

static void gatherv(int form) {
  if (c.in_place) out[c.me] = rank;
  CALL(Gatherv, Igatherv, sent(), NUMBER(is_sent(), 1), TYPE(is_sent(), MPI_INT), POINTER(c.at_root, out),
       POINTER(c.at_root, ones), POINTER(c.at_root, places), TYPE(c.at_root, MPI_INT), c.root, c.comm);
  check_gathered();
}

static void* received(void) { return c.in_place ? MPI_IN_PLACE : POINTER(c.contributes, out); }

static void check_scattered(void) {
  if (is_sent()) CHECK_EQ(out[0], 1000 + c.me);
}

static void scatter(int form) {
  CALL(Scatter, Iscatter, POINTER(c.at_root, in), NUMBER(c.at_root, 1), TYPE(c.at_root, MPI_INT), received(),
       NUMBER(is_sent(), 1), TYPE(is_sent(), MPI_INT), c.root, c.comm);
  check_scattered();
}

static void scatterv(int form) {
  CALL(Scatterv, Iscatterv, POINTER(c.at_root, in), POINTER(c.at_root, ones), POINTER(c.at_root, places),
       TYPE(c.at_root, MPI_INT), received(), NUMBER(is_sent(), 1), TYPE(is_sent(), MPI_INT), c.root, c.comm);
  check_scattered();
}

static void reduce(int form) {
  int sum = 0;
  for (int i = 0; i < c.peers; ++i) sum += number_of(i);
  if (c.in_place) out[0] = rank;
  CALL(Reduce, Ireduce, sent(), POINTER(c.at_root, out), NUMBER(c.takes_part, 1), TYPE(c.takes_part, MPI_INT),
       c.takes_part ? MPI_SUM : rubbish.op, c.root, c.comm);
  if (c.at_root) CHECK_EQ(out[0], sum);
}

static void bcast(int form) {
  if (c.at_root) out[0] = 77;
  CALL(Bcast, Ibcast, POINTER(c.takes_part, out), NUMBER(c.takes_part, 1), TYPE(c.takes_part, MPI_INT),
       c.root, c.comm);
  if (c.takes_part) CHECK_EQ(out[0], 77);
}

static void (*const rooted[])(int form) = {gather, gatherv, scatter, scatterv, reduce, bcast};

/* Of calls without one: what is beside MPI_IN_PLACE. */

static void check_all(int step) {
  for (int i = 0; i < size; ++i) CHECK_EQ(out[i], step != 0 ? 100 * i + rank : i);
}

static void allgather(int form) {
  out[rank] = rank;
  CALL(Allgather, Iallgather, MPI_IN_PLACE, rubbish.number, rubbish.type, out, 1, MPI_INT, MPI_COMM_WORLD);
  check_all(0);
}

static void allgatherv(int form) {
  out[rank] = rank;
  CALL(Allgatherv, Iallgatherv, MPI_IN_PLACE, rubbish.number, rubbish.type, out, ones, places, MPI_INT,
       MPI_COMM_WORLD);
  check_all(0);
}

static void to_all(void) {
  for (int i = 0; i < size; ++i) out[i] = 100 * rank + i;
}

static void alltoall(int form) {
  to_all();
  CALL(Alltoall, Ialltoall, MPI_IN_PLACE, rubbish.number, rubbish.type, out, 1, MPI_INT, MPI_COMM_WORLD);
  check_all(100);
}

static void alltoallv(int form) {
  to_all();
  CALL(Alltoallv, Ialltoallv, MPI_IN_PLACE, rubbish.pointer, rubbish.pointer, rubbish.type, out, ones, places,
       MPI_INT, MPI_COMM_WORLD);
  check_all(100);
}

static void alltoallw(int form) {
  to_all();
  for (int i = 0; i < size; ++i) places[i] = i * (int)sizeof(int);
  CALL(Alltoallw, Ialltoallw, MPI_IN_PLACE, rubbish.pointer, rubbish.pointer, rubbish.pointer, out, ones,
       places, ints, MPI_COMM_WORLD);
  check_all(100);
}

/* The result of the first rank is not there. */
static void exscan(int form) {
  CALL(Exscan, Iexscan, &rank, POINTER(rank != 0, out), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank != 0) CHECK_EQ(out[0], rank * (rank - 1) / 2);
}

static void (*const without_root[])(int form) = {allgather, allgatherv, alltoall,
                                                 alltoallv, alltoallw,  exscan};

/* MPI_NO_OP reads no operand. */
static void accesses(void) {
  int *memory = NULL, old = -1, again = -1, once_more = -1;
  MPI_Win win;
  MPI_Request request;
  CHECK_OK(MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
  *memory = 500 + rank;
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Win_lock_all(0, win));
  CHECK_OK(MPI_Get_accumulate(rubbish.pointer, rubbish.number, rubbish.type, &old, 1, MPI_INT, 0, 0, 1,
                              MPI_INT, MPI_NO_OP, win));
  CHECK_OK(MPI_Fetch_and_op(rubbish.pointer, &again, MPI_INT, 0, 0, MPI_NO_OP, win));
  CHECK_OK(MPI_Rget_accumulate(rubbish.pointer, rubbish.number, rubbish.type, &once_more, 1, MPI_INT, 0, 0, 1,
                               MPI_INT, MPI_NO_OP, win, &request));
  CHECK_OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
  CHECK_OK(MPI_Win_unlock_all(win));
  CHECK_EQ(old, 500);
  CHECK_EQ(again, 500);
  CHECK_EQ(once_more, 500);
  CHECK_OK(MPI_Win_free(&win));
}

/* The even and the odd ranks; the leaders know each other. */
static MPI_Comm create_intercommunicator(void) {
  MPI_Comm local = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  const int leads = rank < 2;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &local));
  CHECK_OK(MPI_Intercomm_create(local, 0, leads ? MPI_COMM_WORLD : rubbish.comm, NUMBER(leads, 1 - rank), 3,
                                &inter));
  CHECK_OK(MPI_Comm_free(&local));
  return inter;
}

static void create_from_groups(void) {
#ifndef IS_OLD
  MPI_Session session;
  MPI_Group all, mine, others;
  MPI_Comm inter = MPI_COMM_NULL;
  int remote = 0;
  CHECK_OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session));
  CHECK_OK(MPI_Group_from_session_pset(session, "mpi://WORLD", &all));
  int mine_are[][3] = {{rank % 2, rank % 2 + (size - 1 - rank % 2) / 2 * 2, 2}};
  CHECK_OK(MPI_Group_range_incl(all, 1, mine_are, &mine));
  CHECK_OK(MPI_Group_difference(all, mine, &others));
  CHECK_OK(MPI_Intercomm_create_from_groups(mine, 0, rank < 2 ? others : rubbish.group, NUMBER(rank < 2, 0),
                                            "rubbish", MPI_INFO_NULL, MPI_ERRORS_RETURN, &inter));
  CHECK_OK(MPI_Comm_remote_size(inter, &remote));
  CHECK_EQ(remote, rank % 2 == 0 ? size / 2 : (size + 1) / 2);
  CHECK_OK(MPI_Comm_free(&inter));
  CHECK_OK(MPI_Group_free(&others));
  CHECK_OK(MPI_Group_free(&mine));
  CHECK_OK(MPI_Group_free(&all));
  CHECK_OK(MPI_Session_finalize(&session));
#endif
}

static void all_rooted(void) {
  for (unsigned i = 0; i < sizeof rooted / sizeof *rooted; ++i) {
    for (int form = 0; form < FORMS; ++form) {
      clear();
      rooted[i](form);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int kind = 0; kind < RUBBISH_KINDS; ++kind) {
    choose_rubbish(kind);
    for (int in_place = 0; in_place < 2; ++in_place) {
      intracommunicator(in_place);
      all_rooted();
    }
    for (unsigned i = 0; i < sizeof without_root / sizeof *without_root; ++i) {
      for (int form = 0; form < FORMS; ++form) {
        clear();
        without_root[i](form);
      }
    }
    accesses();
    if (size < 2) continue;
    MPI_Comm inter = create_intercommunicator();
    MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN);
    intercommunicator(inter);
    all_rooted();
    CHECK_OK(MPI_Comm_free(&inter));
    create_from_groups();
  }
  MPI_Finalize();
  if (rank == 0 && check_failures == 0) puts("nobody has looked");
  return check_result();
}
