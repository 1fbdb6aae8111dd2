// Standard input of each rank. By default rank 0 reads what mpiexec reads, and others find it empty, as under
// other launchers; with
// --stdin all each reads all of it. Programs read with scanf(), getline() or read(), look first with poll(),
// select() or isatty(), and put a file there by freopen() or dup2() (codes that read "input.dat" as their
// standard input).
#define _GNU_SOURCE
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>

#include "check.h"

enum { kLines = 20000 };

static void read_lines(int expected) {
  char line[64], wanted[64];
  int count = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    snprintf(wanted, sizeof wanted, "line %d\n", count);
    check(strcmp(line, wanted) == 0, "read %s instead of %s", line, wanted);
    ++count;
    if (check_failures > 3) return;
  }
  check(count == expected, "%d lines instead of %d", count, expected);
  check(feof(stdin) && !ferror(stdin), "no end of input");
}

static void find_nothing(void) {
  struct pollfd state = {0, POLLIN, 0};
  check(poll(&state, 1, 10000) == 1, "poll finds no end of an empty input");
  fd_set set;
  FD_ZERO(&set);
  FD_SET(0, &set);
  check(select(1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(0, &set), "select finds no end of an empty input");
  char byte;
  check(read(0, &byte, 1) == 0, "read finds something");
  check(isatty(0) == 0, "an empty input is a terminal");
  check(getchar() == EOF, "getchar finds something");
}

static void read_from_file(int by) {
  char name[64];
  snprintf(name, sizeof name, "input.%d.%d", check_job, check_rank);
  FILE* file = fopen(name, "w");
  fprintf(file, "%d words\nnext\n", check_rank);
  fclose(file);
  if (by == 0) {
    check(freopen(name, "r", stdin) == stdin, "freopen: %s", strerror(errno));
  } else {
    const int opened = open(name, O_RDONLY);
    check(dup2(opened, 0) == 0, "dup2: %s", strerror(errno));
    close(opened);
    clearerr(stdin);
  }
  check(fileno(stdin) == 0, "fileno %d", fileno(stdin));
  int number = -1, bytes = -1;
  check(ioctl(0, FIONREAD, &bytes) == 0 && bytes > 0, "FIONREAD: %d", bytes);
  check(scanf("%d words\n", &number) == 1 && number == check_rank, "scanf reads %d", number);
  char* line = NULL;
  size_t room = 0;
  check(getline(&line, &room, stdin) == 5 && strcmp(line, "next\n") == 0, "getline reads another line");
  free(line);
  check(getchar() == EOF, "there is more");
  MPI_Barrier(MPI_COMM_WORLD);
  check(system("read word && test \"$word\" = again") != 0, "a child reads what was read");
  rewind(stdin);
  lseek(0, 0, SEEK_SET);
  char command[64];
  snprintf(command, sizeof command, "read number word && test \"$number\" = %d", check_rank);
  check(system(command) == 0, "a child does not read the rank's input");
  unlink(name);
}

/// An event loop of a program that has closed its input: the set of descriptors has the number 0.
static void wait_by_set(void) {
  struct epoll_event event = {.events = EPOLLIN, .data = {.fd = 7}};
  const struct timespec time = {20, 0};
  int ends[2];
  check(epoll_create1(0) == 0 && pipe(ends) == 0, "epoll_create1 after close(0) is not 0");
  check(epoll_ctl(0, EPOLL_CTL_ADD, ends[0], &event) == 0, "epoll_ctl: %s", strerror(errno));
  check(write(ends[1], "1", 1) == 1, "write: %s", strerror(errno));
  event.data.fd = 0;
  check(epoll_wait(0, &event, 1, 20000) == 1 && event.data.fd == 7, "epoll_wait: %s", strerror(errno));
  check(epoll_pwait(0, &event, 1, 20000, NULL) == 1, "epoll_pwait: %s", strerror(errno));
  check(epoll_pwait2(0, &event, 1, &time, NULL) == 1 || errno == ENOSYS, "epoll_pwait2: %s", strerror(errno));
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  const int reader = atoi(argv[1]);  // -1: none, -2: all
  if (reader == -2 || reader == check_rank)
    read_lines(kLines);
  else
    find_nothing();
  MPI_Barrier(MPI_COMM_WORLD);
  read_from_file(0);
  read_from_file(1);
  close(0);
  char byte;
  check(read(0, &byte, 1) == -1 && errno == EBADF, "read of what is closed");
  check(open("/dev/null", O_RDONLY) == 0, "open after close(0) is not 0");
  check(read(0, &byte, 1) == 0, "read of /dev/null: %s", strerror(errno));
  close(0);
  wait_by_set();
  return check_end();
}
