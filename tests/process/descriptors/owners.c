// Each rank has its own descriptors. Programs close all numbers from 3 on, daemons and those that start
// others do, and libraries close what they have not opened (by mistake): what another rank has open stays
// open, and to a rank the other one's number is not open, as in a process of its own.
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>

#include "../files/check.h"

extern char** environ;

enum { kMade = 24 };
static int made[kMade], count;
static char name[64];

static void add(int descriptor, const char* how) {
  check(descriptor > 2, "%s: %d, %s", how, descriptor, strerror(errno));
  made[count++] = descriptor;
}

static int is_mine(int number) {
  for (int i = 0; i < count; ++i)
    if (made[i] == number) return 1;
  return number <= 2;
}

static FILE* stream;
static FILE* temporary;
static FILE* command;
static DIR* folder;

static void make_all(void) {
  count = 0;
  add(open(name, O_RDWR | O_CREAT | O_TRUNC, 0644), "open");
  int ends[2] = {-1, -1};
  check(pipe(ends) == 0, "pipe");
  add(ends[0], "pipe");
  add(ends[1], "pipe");
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  add(ends[0], "socketpair");
  add(ends[1], "socketpair");
  add(dup(made[0]), "dup");
  add(fcntl(made[0], F_DUPFD_CLOEXEC, 20), "F_DUPFD_CLOEXEC");
  char pattern[] = "owners.XXXXXX";
  add(mkstemp(pattern), "mkstemp");
  unlink(pattern);
  add(epoll_create1(0), "epoll_create1");
  add(eventfd(0, 0), "eventfd");
  add(timerfd_create(CLOCK_MONOTONIC, 0), "timerfd_create");
  add(memfd_create("owners", 0), "memfd_create");
  add((int)syscall(SYS_openat, AT_FDCWD, "/dev/null", O_RDONLY), "SYS_openat");
  stream = fopen(name, "r");
  add(fileno(stream), "fopen");
  temporary = tmpfile();
  add(fileno(temporary), "tmpfile");
  folder = opendir(".");
  add(dirfd(folder), "opendir");
  command = popen("cat", "w");
  add(fileno(command), "popen");
  // What comes with a message is the receiver's.
  struct msghdr message;
  char byte = 'x', room[CMSG_SPACE(sizeof(int))];
  struct iovec part = {&byte, 1};
  memset(&message, 0, sizeof message);
  memset(room, 0, sizeof room);
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  struct cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(head), &made[0], sizeof(int));
  check(sendmsg(made[3], &message, 0) == 1, "sendmsg: %s", strerror(errno));
  check(recvmsg(made[4], &message, 0) == 1, "recvmsg: %s", strerror(errno));
  int received = -1;
  memcpy(&received, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(int));
  add(received, "recvmsg");
}

static void close_streams(void) {
  check(fclose(stream) == 0, "fclose");
  check(fclose(temporary) == 0, "fclose");
  check(closedir(folder) == 0, "closedir");
  check(pclose(command) == 0, "pclose");
}

static void still_open(void) {
  for (int i = 0; i < count; ++i)
    check(fcntl(made[i], F_GETFD) >= 0, "number %d, the %dth, is closed: %s", made[i], i, strerror(errno));
  check(write(made[2], "pipe", 4) == 4, "write: %s", strerror(errno));
  char text[8];
  check(read(made[1], text, sizeof text) == 4, "read: %s", strerror(errno));
}

static void others_are_closed(void) {
  int* all = calloc((size_t)(check_size * kMade), sizeof *all);
  for (int i = count; i < kMade; ++i) made[i] = 0;
  MPI_Allgather(made, kMade, MPI_INT, all, kMade, MPI_INT, MPI_COMM_WORLD);
  char byte = 0;
  for (int i = 0; i < check_size * kMade; ++i) {
    // As processes, others have numbers that happen to be open for something else.
    if (all[i] == 0 || is_mine(all[i]) || getenv("CLUMP_RANKS") != NULL) continue;
    errno = 0;
    check(close(all[i]) == -1 && errno == EBADF, "close(%d) of another rank's: %s", all[i], strerror(errno));
    errno = 0;
    check(write(all[i], &byte, 1) == -1 && errno == EBADF, "write(%d): %s", all[i], strerror(errno));
    errno = 0;
    check(read(all[i], &byte, 1) == -1 && errno == EBADF, "read(%d): %s", all[i], strerror(errno));
    errno = 0;
    check(fcntl(all[i], F_GETFD) == -1 && errno == EBADF, "F_GETFD of %d: %s", all[i], strerror(errno));
    errno = 0;
    check(dup(all[i]) == -1 && errno == EBADF, "dup(%d): %s", all[i], strerror(errno));
    struct pollfd one = {all[i], POLLIN, 0};
    check(poll(&one, 1, 0) == 1 && one.revents == POLLNVAL, "poll() of %d: %x", all[i],
          (unsigned)one.revents);
    check(syscall(SYS_close, all[i]) == -1, "SYS_close of %d", all[i]);
  }
  free(all);
}

// Closing loops of the first rank: what others have stays.
static void loops(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank == 0) {
    int low = made[0], high = made[0], is_dense = 1;
    for (int i = 0; i < count; ++i) {
      low = made[i] < low ? made[i] : low;
      high = made[i] > high ? made[i] : high;
    }
    // A process has numbers of the MPI library, which only Clump's own loops know to leave alone.
    if (getenv("CLUMP_RANKS") != NULL) is_dense = 0;
    if (is_dense) {
      check(close_range((unsigned)low, (unsigned)high, 0) == 0, "close_range: %s", strerror(errno));
      for (int i = 0; i < count; ++i)
        check(fcntl(made[i], F_GETFD) == -1 && errno == EBADF, "%d is open after close_range", made[i]);
      const int again = open(name, O_RDONLY);
      closefrom(3);
      check(fcntl(again, F_GETFD) == -1, "open after closefrom");
    }
    const int third = open(name, O_RDONLY);
    for (int number = low; number < 1024 && is_dense; ++number) close(number);
    check(!is_dense || fcntl(third, F_GETFD) == -1, "%d is open after the loop", third);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank != 0) still_open();
  MPI_Barrier(MPI_COMM_WORLD);
}

// Numbers that the C library has closed itself are free for all ranks.
static void reused(void) {
  for (int round = 0; round < 20; ++round) {
    FILE* file = fopen(name, "r");
    DIR* here = opendir(".");
    const int number = open(name, O_RDWR);
    FILE* above = fdopen(number, "r+");
    check(file != NULL && here != NULL && above != NULL, "round %d", round);
    if (round % 3 == 0) file = freopen("/dev/null", "r", file);
    MPI_Barrier(MPI_COMM_WORLD);
    if ((round + check_rank) % 2 == 0) fclose(file), closedir(here), fclose(above);
    MPI_Barrier(MPI_COMM_WORLD);
    int mine[4];
    for (int i = 0; i < 4; ++i) {
      mine[i] = open(name, O_RDWR);
      check(write(mine[i], "x", 1) == 1, "write in round %d: %s", round, strerror(errno));
    }
    for (int i = 0; i < 4; ++i) check(close(mine[i]) == 0, "close in round %d: %s", round, strerror(errno));
    MPI_Barrier(MPI_COMM_WORLD);
    if ((round + check_rank) % 2 != 0) fclose(file), closedir(here), fclose(above);
  }
}

// What a rank starts does not keep other ranks' pipes open.
static void children_of_others(void) {
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  MPI_Barrier(MPI_COMM_WORLD);
  pid_t sleeper[2] = {-1, -1};
  int status;
  if (check_rank == 0) {
    char* words[] = {"sleep", "20", NULL};
    close(ends[1]);
    check(posix_spawn(&sleeper[0], "/bin/sleep", NULL, NULL, words, environ) == 0, "posix_spawn");
    sleeper[1] = fork();
    if (sleeper[1] == 0) {
      execv("/bin/sleep", words);
      _exit(1);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (check_rank != 0) {
    close(ends[1]);
    struct pollfd end = {ends[0], POLLIN, 0};
    check(poll(&end, 1, 5000) == 1, "another rank's child has the pipe");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2 && check_rank == 0; ++i) {
    kill(sleeper[i], SIGKILL);
    waitpid(sleeper[i], &status, 0);
  }
  close(ends[0]);
}

// A rank's own limit counts its own.
static void limit(void) {
  struct rlimit before, mine, now;
  check(getrlimit(RLIMIT_NOFILE, &before) == 0, "getrlimit");
  mine = before;
  mine.rlim_cur = check_rank == 1 ? 40 : before.rlim_cur;
  check(setrlimit(RLIMIT_NOFILE, &mine) == 0, "setrlimit: %s", strerror(errno));
  check(getrlimit(RLIMIT_NOFILE, &now) == 0 && now.rlim_cur == mine.rlim_cur, "getrlimit says %d",
        (int)now.rlim_cur);
  MPI_Barrier(MPI_COMM_WORLD);
  int all[60], opened = 0;
  errno = 0;
  while (opened < 60 && (all[opened] = open("/dev/null", O_RDONLY)) >= 0) ++opened;
  if (check_rank == 1) {
    check(opened < 40 && errno == EMFILE, "%d files were opened: %s", opened, strerror(errno));
    check(fopen("/dev/null", "r") == NULL && errno == EMFILE, "fopen: %s", strerror(errno));
  } else {
    check(opened == 60, "%d files were opened: %s", opened, strerror(errno));
  }
  while (opened > 0) close(all[--opened]);
  setrlimit(RLIMIT_NOFILE, &before);
  // Others are told what they have set themselves.
  check(getrlimit(RLIMIT_CORE, &before) == 0, "getrlimit");
  mine = before;
  mine.rlim_cur = check_rank == 1 ? 0 : before.rlim_cur;
  check(setrlimit(RLIMIT_CORE, &mine) == 0, "setrlimit: %s", strerror(errno));
  MPI_Barrier(MPI_COMM_WORLD);
  check(getrlimit(RLIMIT_CORE, &now) == 0 && now.rlim_cur == mine.rlim_cur, "RLIMIT_CORE is %d",
        (int)now.rlim_cur);
  MPI_Barrier(MPI_COMM_WORLD);
  setrlimit(RLIMIT_CORE, &before);
}

int main(int argc, char** argv) {
  check_begin(&argc, &argv);
  snprintf(name, sizeof name, "owners.%d.%d", check_job, check_rank);
  make_all();
  others_are_closed();
  MPI_Barrier(MPI_COMM_WORLD);
  still_open();
  MPI_Barrier(MPI_COMM_WORLD);
  close_streams();
  for (int i = 0; i < count; ++i) close(made[i]);
  reused();
  make_all();
  loops();
  children_of_others();
  limit();
  unlink(name);
  return check_end();
}
