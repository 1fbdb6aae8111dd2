/* Ports, published names, MPI_Comm_accept and MPI_Comm_connect between groups of ranks of one job (MPI-5.0
   sections 11.8 and 11.9). */
#include "check.h"

static int rank, size;

/* The lower half of MPI_COMM_WORLD accepts, the upper half connects. */
static MPI_Comm half(void) {
  MPI_Comm comm;
  CHECK_OK(MPI_Comm_split(MPI_COMM_WORLD, rank < size / 2 ? 0 : 1, 0, &comm));
  CHECK_OK(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN));
  return comm;
}

/* Each rank of both groups tells each of the other group its rank in MPI_COMM_WORLD. */
static void exchange(MPI_Comm inter, int is_server) {
  int remote, flag = 0;
  CHECK_OK(MPI_Comm_test_inter(inter, &flag));
  CHECK(flag);
  CHECK_OK(MPI_Comm_remote_size(inter, &remote));
  CHECK_EQ(remote, is_server ? size - size / 2 : size / 2);
  for (int i = 0; i < remote; ++i) {
    int theirs = -1;
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, i, 3, &theirs, 1, MPI_INT, i, 3, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, is_server ? size / 2 + i : i);
  }
  int sum = 0, expected = 0;
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, inter));
  for (int i = 0; i < size; ++i) expected += (i >= size / 2) == is_server ? i : 0;
  CHECK_EQ(sum, expected);
  MPI_Comm merged;
  int merged_rank = -1;
  CHECK_OK(MPI_Intercomm_merge(inter, !is_server, &merged));
  CHECK_OK(MPI_Comm_rank(merged, &merged_rank));
  CHECK_EQ(merged_rank, rank);
  CHECK_OK(MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, merged));
  CHECK_EQ(sum, size * (size - 1) / 2);
  CHECK_OK(MPI_Comm_free(&merged));
}

static void meet(void) {
  const int is_server = rank < size / 2;
  MPI_Comm comm = half();
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) {
    CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
    CHECK_OK(MPI_Publish_name("clump test", MPI_INFO_NULL, port));
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  /* Three clients after one another by one port: the name is looked up anew each time. */
  for (int round = 0; round < 3; ++round) {
    MPI_Comm inter = MPI_COMM_NULL;
    if (is_server) {
      CHECK_OK(MPI_Comm_accept(rank == 0 ? port : NULL, MPI_INFO_NULL, 0, comm, &inter));
    } else {
      char found[MPI_MAX_PORT_NAME] = "";
      int last;
      CHECK_OK(MPI_Comm_size(comm, &last));
      if (rank == size - 1) CHECK_OK(MPI_Lookup_name("clump test", MPI_INFO_NULL, found));
      /* Not the first rank, and in one round with time enough. */
      MPI_Info info = MPI_INFO_NULL;
      if (round == 1) {
        CHECK_OK(MPI_Info_create(&info));
        CHECK_OK(MPI_Info_set(info, "timeout", "200"));
      }
      CHECK_OK(MPI_Comm_connect(rank == size - 1 ? found : NULL, info, last - 1, comm, &inter));
      if (round == 1) CHECK_OK(MPI_Info_free(&info));
    }
    if (inter != MPI_COMM_NULL) {
      exchange(inter, is_server);
      CHECK_OK(MPI_Comm_disconnect(&inter));
      CHECK_EQ(inter, MPI_COMM_NULL);
    }
  }
  if (rank == 0) {
    CHECK_OK(MPI_Unpublish_name("clump test", MPI_INFO_NULL, port));
    CHECK_OK(MPI_Close_port(port));
  }
  CHECK_OK(MPI_Comm_free(&comm));
}

/* Every other rank connects by itself to rank 0, in whatever order. */
static void many_clients(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  if (rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
  int sum = 0;
  if (rank == 0) {
    for (int i = 1; i < size; ++i) {
      MPI_Comm client;
      int theirs = 0;
      CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &client));
      CHECK_OK(MPI_Recv(&theirs, 1, MPI_INT, 0, 0, client, MPI_STATUS_IGNORE));
      sum += theirs;
      CHECK_OK(MPI_Comm_disconnect(&client));
    }
    CHECK_EQ(sum, size * (size - 1) / 2);
    CHECK_OK(MPI_Close_port(port));
  } else {
    MPI_Comm server;
    CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &server));
    CHECK_OK(MPI_Send(&rank, 1, MPI_INT, 0, 0, server));
    CHECK_OK(MPI_Comm_disconnect(&server));
  }
}

static void names(void) {
  char name[64], port[MPI_MAX_PORT_NAME], found[MPI_MAX_PORT_NAME] = "";
  snprintf(name, sizeof name, "name of %d", rank);
  CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);
  CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
  CHECK_OK(MPI_Publish_name(name, MPI_INFO_NULL, port));
  CHECK_CLASS(MPI_Publish_name(name, MPI_INFO_NULL, port), MPI_ERR_SERVICE);
  CHECK_OK(MPI_Lookup_name(name, MPI_INFO_NULL, found));
  CHECK_STR(found, port);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  snprintf(name, sizeof name, "name of %d", (rank + 1) % size);
  CHECK_OK(MPI_Lookup_name(name, MPI_INFO_NULL, found));
  CHECK(size == 1 || strcmp(found, port) != 0);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  snprintf(name, sizeof name, "name of %d", rank);
  CHECK_CLASS(MPI_Unpublish_name(name, MPI_INFO_NULL, "another port"), MPI_ERR_SERVICE);
  CHECK_OK(MPI_Unpublish_name(name, MPI_INFO_NULL, port));
  CHECK_CLASS(MPI_Lookup_name(name, MPI_INFO_NULL, found), MPI_ERR_NAME);
  CHECK_CLASS(MPI_Publish_name("", MPI_INFO_NULL, port), MPI_ERR_SERVICE);
  /* Any text can be published, also one without characters. */
  CHECK_OK(MPI_Publish_name(name, MPI_INFO_NULL, ""));
  CHECK_OK(MPI_Lookup_name(name, MPI_INFO_NULL, found));
  CHECK_STR(found, "");
  CHECK_OK(MPI_Unpublish_name(name, MPI_INFO_NULL, ""));
  CHECK_OK(MPI_Close_port(port));
}

static void refused(void) {
  char port[MPI_MAX_PORT_NAME], wrong[MPI_MAX_PORT_NAME];
  MPI_Comm made = MPI_COMM_WORLD;
  CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_CLASS(MPI_Comm_connect("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
  CHECK_EQ(made, MPI_COMM_NULL);
  CHECK_CLASS(MPI_Comm_accept("no port", MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
  CHECK_CLASS(MPI_Close_port("no port"), MPI_ERR_PORT);

  /* The token of the next rank's port is not known: the last digit of it is changed. */
  CHECK_OK(MPI_Sendrecv(port, MPI_MAX_PORT_NAME, MPI_CHAR, (rank + size - 1) % size, 0, wrong,
                        MPI_MAX_PORT_NAME, MPI_CHAR, (rank + 1) % size, 0, MPI_COMM_WORLD,
                        MPI_STATUS_IGNORE));
  char* const last = wrong + strlen(wrong) - 1;
  const char right = *last;
  *last = right == '0' ? '1' : '0';
  const int code = MPI_Comm_connect(wrong, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made);
  CHECK_CLASS(code, MPI_ERR_PORT);
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK_OK(MPI_Error_string(code, text, &length));
  CHECK(strstr(text, "token") != NULL);
  *last = right;

  /* Another rank's port can be neither closed nor used to accept. */
  if (size > 1) {
    CHECK_CLASS(MPI_Close_port(wrong), MPI_ERR_PORT);
    CHECK_CLASS(MPI_Comm_accept(wrong, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
  }
  /* Nobody accepts. */
  MPI_Info info;
  CHECK_OK(MPI_Info_create(&info));
  CHECK_OK(MPI_Info_set(info, "timeout", "0.05"));
  const double begin = MPI_Wtime();
  CHECK_CLASS(MPI_Comm_connect(wrong, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
  CHECK(MPI_Wtime() - begin >= 0.05);
  CHECK_OK(MPI_Info_set(info, "timeout", "soon"));
  CHECK_CLASS(MPI_Comm_connect(wrong, info, 0, MPI_COMM_SELF, &made), MPI_ERR_INFO_VALUE);
  CHECK_OK(MPI_Info_free(&info));

  /* A port of another job, one that tells no address, and one of a job that has ended. */
  CHECK_CLASS(
      MPI_Comm_connect("clump:other-p1:0:0:0:0:0:00000000000000000000000000000000:0:1:0000000000000001",
                       MPI_INFO_NULL, 0, MPI_COMM_SELF, &made),
      MPI_ERR_UNSUPPORTED_OPERATION);
  CHECK_CLASS(
      MPI_Comm_connect("clump:other-p1:0:0:12345:0:0:00000000000000000000000000000000:0:1:0000000000000001",
                       MPI_INFO_NULL, 0, MPI_COMM_SELF, &made),
      MPI_ERR_PORT);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_OK(MPI_Close_port(port));
  CHECK_CLASS(MPI_Close_port(port), MPI_ERR_PORT);
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  CHECK_CLASS(MPI_Comm_connect(wrong, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
  CHECK_EQ(made, MPI_COMM_NULL);
}

/* A client that has given up is not accepted: the next one is. */
static void given_up(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm made;
  if (rank == 0) CHECK_OK(MPI_Open_port(MPI_INFO_NULL, port));
  CHECK_OK(MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD));
  if (rank == 1) {
    MPI_Info info;
    CHECK_OK(MPI_Info_create(&info));
    CHECK_OK(MPI_Info_set(info, "timeout", "0.02"));
    CHECK_CLASS(MPI_Comm_connect(port, info, 0, MPI_COMM_SELF, &made), MPI_ERR_PORT);
    CHECK_OK(MPI_Info_free(&info));
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  if (rank == 0) CHECK_OK(MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made));
  if (rank == 1) CHECK_OK(MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &made));
  if (rank < 2) CHECK_OK(MPI_Comm_disconnect(&made));
  if (rank == 0) CHECK_OK(MPI_Close_port(port));
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  names();
  refused();
  if (size > 1) {
    meet();
    many_clients();
    given_up();
  }
  MPI_Comm parent = MPI_COMM_WORLD;
  CHECK_OK(MPI_Comm_get_parent(&parent));
  CHECK_EQ(parent, MPI_COMM_NULL);
  MPI_Finalize();
  return check_result();
}
