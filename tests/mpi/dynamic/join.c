/* MPI_Comm_join (MPI-5.0 section 11.10.3): rank 0 and the last one, by a socket. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* A socket between the two; -1 at other ranks. */
static int connect_by_socket(int rank, int size) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  int listener = -1, fd = -1, port = 0;
  if (rank == 0) {
    listener = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(bind(listener, (struct sockaddr*)&address, sizeof address), 0);
    CHECK_EQ(listen(listener, 1), 0);
    CHECK_EQ(getsockname(listener, (struct sockaddr*)&address, &length), 0);
    port = address.sin_port;
  }
  CHECK_OK(MPI_Bcast(&port, 1, MPI_INT, 0, MPI_COMM_WORLD));
  if (rank == size - 1) {
    address.sin_port = (in_port_t)port;
    fd = socket(AF_INET, SOCK_STREAM, 0);
    CHECK_EQ(connect(fd, (struct sockaddr*)&address, sizeof address), 0);
  }
  CHECK_OK(MPI_Barrier(MPI_COMM_WORLD)); /* it waits in the listener's queue */
  if (rank == 0) {
    fd = accept(listener, NULL, NULL);
    CHECK(fd >= 0);
    close(listener);
  }
  return fd;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm inter = MPI_COMM_WORLD;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Comm_join(-1, &inter), MPI_ERR_ARG);
  CHECK_EQ(inter, MPI_COMM_NULL);
  const int fd = connect_by_socket(rank, size);
  if (fd >= 0) {
    int remote = 0, theirs = -1;
    CHECK_OK(MPI_Comm_join(fd, &inter));
    CHECK_OK(MPI_Comm_remote_size(inter, &remote));
    CHECK_EQ(remote, 1);
    CHECK_OK(MPI_Sendrecv(&rank, 1, MPI_INT, 0, 0, &theirs, 1, MPI_INT, 0, 0, inter, MPI_STATUS_IGNORE));
    CHECK_EQ(theirs, size - 1 - rank);
    CHECK_OK(MPI_Comm_disconnect(&inter));
    /* The socket is as it was: nothing is left in it. */
    char byte = 'x', got = 0;
    CHECK_EQ(write(fd, &byte, 1), 1);
    CHECK_EQ(read(fd, &got, 1), 1);
    CHECK_EQ(got, 'x');
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
    close(fd);
    /* One that hangs up is no partner. */
  } else {
    CHECK_OK(MPI_Barrier(MPI_COMM_WORLD));
  }
  int pair[2];
  CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  close(pair[1]);
  CHECK_CLASS(MPI_Comm_join(pair[0], &inter), MPI_ERR_OTHER);
  close(pair[0]);
  MPI_Finalize();
  return check_result();
}
