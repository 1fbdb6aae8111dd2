// A handler calls functions that POSIX names as async-signal-safe, all that Clump has a part in, while the
// rank is inside printf(), malloc(), close() or fork(): none waits for what the rank holds, and none changes
// its heap. For: handlers that say something with write(), reap children, or use a pipe.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <utime.h>

#include "check.h"

// Also in a handler, where printf() may not be called.
#undef CHECK
#define CHECK(condition)                         \
  do {                                           \
    if (!(condition)) say(__LINE__, #condition); \
  } while (0)

static void say(int line, const char* condition) {
  char text[400];
  const int bytes =
      snprintf(text, sizeof text, "rank %d: line %d: %.300s does not hold\n", rank, line, condition);
  (void)!write(2, text, (size_t)bytes);
  wrong = 1;
}

static char file_name[64], other_name[80], folder_name[80];
static int locked = -1;  // the rank has a record lock there
static pthread_t main_thread;
static timer_t second_timer;
static sem_t semaphore;
static timer_t timer;
static const struct itimerspec soon = {{0, 0}, {0, 300000}};
static volatile int ticks, wanted_ticks, part;
static sigjmp_buf place;

static void nothing(int number) { (void)number; }

static void use_files(void) {
  struct stat info;
  char text[8];
  const int file = open(file_name, O_RDWR | O_CREAT, 0600);
  CHECK(file > 2 && write(file, "text", 4) == 4 && lseek(file, 0, SEEK_SET) == 0 && read(file, text, 4) == 4);
  CHECK(fstat(file, &info) == 0 && stat(file_name, &info) == 0 && lstat(file_name, &info) == 0);
  CHECK(fstatat(AT_FDCWD, file_name, &info, 0) == 0 && access(file_name, R_OK) == 0 &&
        faccessat(AT_FDCWD, file_name, R_OK, 0) == 0);
  CHECK(fchmod(file, 0600) == 0 && chmod(file_name, 0600) == 0 &&
        fchmodat(AT_FDCWD, file_name, 0600, 0) == 0);
  CHECK(ftruncate(file, 2) == 0 && futimens(file, NULL) == 0 && utimensat(AT_FDCWD, file_name, NULL, 0) == 0);
  CHECK(utime(file_name, NULL) == 0 && utimes(file_name, NULL) == 0);
  CHECK(fchown(file, getuid(), getgid()) == 0 && chown(file_name, getuid(), getgid()) == 0);
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 1, .l_len = 1};
  CHECK(fcntl(file, F_SETLK, &lock) == 0 && fcntl(file, F_GETLK, &lock) == 0);
  CHECK(fcntl(file, F_SETFD, FD_CLOEXEC) == 0 && fcntl(file, F_GETFD) == FD_CLOEXEC &&
        fcntl(file, F_GETFL) >= 0);
  const int copy = dup(file), high = fcntl(file, F_DUPFD, 20);
  CHECK(copy > 2 && high >= 20 && dup2(file, copy) == copy && close(copy) == 0 && close(high) == 0 &&
        close(file) == 0);
  CHECK(link(file_name, other_name) == 0 && unlink(other_name) == 0 && symlink(file_name, other_name) == 0);
  CHECK(readlink(other_name, text, sizeof text) > 0 && unlink(other_name) == 0 &&
        rename(file_name, other_name) == 0);
  CHECK(unlink(other_name) == 0 && mkdir(folder_name, 0700) == 0 && rmdir(folder_name) == 0);
  CHECK(mkfifo(file_name, 0600) == 0 && unlink(file_name) == 0);
  const int made = creat(file_name, 0600), here = openat(AT_FDCWD, ".", O_RDONLY);
  const int last = dup(made);
  CHECK(last > 2 && dup3(here, last, O_CLOEXEC) == last && close(last) == 0);
  CHECK(symlinkat(file_name, AT_FDCWD, other_name) == 0 &&
        readlinkat(AT_FDCWD, other_name, text, sizeof text) > 0);
  CHECK(unlink(other_name) == 0);
  CHECK(made > 2 && here > 2 && unlinkat(AT_FDCWD, file_name, 0) == 0 && chdir(".") == 0 &&
        fchdir(here) == 0);
  CHECK(close(made) == 0 && close(here) == 0);
  lock.l_type = F_WRLCK;
  CHECK(fcntl(locked, F_SETLK, &lock) == 0);
  const mode_t mask = umask(022);
  CHECK(umask(mask) == 022);
}

static void use_descriptors(void) {
  int ends[2], pair[2];
  char byte = 0;
  CHECK(pipe2(ends, O_CLOEXEC) == 0 && close(ends[0]) == 0 && close(ends[1]) == 0 && pipe(ends) == 0 &&
        write(ends[1], "x", 1) == 1);
  struct pollfd all[2] = {{ends[0], POLLIN, 0}, {0, 0, 0}};
  CHECK(poll(all, 2, 0) == 1);
  struct timespec none = {0, 0};
  struct timeval now = {0, 0};
  fd_set set;
  FD_ZERO(&set);
  FD_SET(0, &set);
  FD_SET(ends[0], &set);
  CHECK(select(ends[0] + 1, &set, NULL, NULL, &now) >= 1);
  FD_ZERO(&set);
  FD_SET(0, &set);
  FD_SET(ends[0], &set);
  CHECK(pselect(ends[0] + 1, &set, NULL, NULL, &none, NULL) >= 1 && ppoll(all, 2, &none, NULL) == 1);
  CHECK(read(ends[0], &byte, 1) == 1 && close(ends[0]) == 0 && close(ends[1]) == 0);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0 && send(pair[0], "x", 1, 0) == 1 &&
        recv(pair[1], &byte, 1, 0) == 1);
  struct iovec piece = {&byte, 1};
  struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
  CHECK(sendmsg(pair[0], &message, 0) == 1 && recvmsg(pair[1], &message, 0) == 1);
  CHECK(sendto(pair[0], "x", 1, 0, NULL, 0) == 1 && recvfrom(pair[1], &byte, 1, 0, NULL, NULL) == 1);
  CHECK(shutdown(pair[0], SHUT_WR) == 0 && close(pair[0]) == 0 && close(pair[1]) == 0);
  const int server = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
  int value = 0;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t bytes = sizeof address, room = sizeof value;
  CHECK(setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0);
  CHECK(getsockopt(server, SOL_SOCKET, SO_TYPE, &value, &room) == 0 && value == SOCK_STREAM);
  CHECK(bind(server, (struct sockaddr*)&address, sizeof address) == 0 && listen(server, 1) == 0);
  CHECK(getsockname(server, (struct sockaddr*)&address, &bytes) == 0 && accept(server, NULL, NULL) == -1 &&
        errno == EAGAIN);
  CHECK(close(server) == 0);
  struct termios settings;
  if (tcgetattr(0, &settings) == 0) (void)tcsetattr(0, TCSANOW, &settings);
  if (tcgetpgrp(0) == getpgrp()) (void)tcsetpgrp(0, getpgrp());
  (void)tcdrain(0), (void)tcflush(0, TCIFLUSH);
  // To the job's stderr, in whole lines and in pieces.
  CHECK(write(1, "", 0) == 0 && write(2, "a handler ", 10) == 10 && write(2, "says so\n", 8) == 8);
  const int nothing_there = open("/dev/null", O_RDONLY);
  (void)fsync(nothing_there), (void)fdatasync(nothing_there);  // of a file they may take long
  CHECK(close(nothing_there) == 0);
}

static void end_child(int how) {
  char* words[] = {"true", NULL};
  char* const none[] = {NULL};
  (void)setpgid(0, 0);
  switch (how) {
    case 0:
      _exit(0);
    case 1:
      _Exit(0);
    case 2:
      abort();
    case 3:
      execl("/bin/true", "true", (char*)NULL);
      break;
    case 4:
      execle("/bin/true", "true", (char*)NULL, none);
      break;
    case 5:
      execv("/bin/true", words);
      break;
    case 6:
      execve("/bin/true", words, none);
      break;
    default:
      fexecve(open("/bin/true", O_RDONLY), words, none);
  }
  _exit(9);
}

static void use_children(int number) {
  int status = 0;
  const int how = (number + 3 * part) % 8;
  pid_t child = _Fork();
  if (child == 0) end_child(how);
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(how == 2 ? WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT : status == 0);
  // wait() might take a child that the rank has forked itself, and waits for.
  if (part == 3) return;
  child = _Fork();
  if (child == 0) _exit(5);
  CHECK(child > 0 && wait(&status) == child && WEXITSTATUS(status) == 5);
}

static void use_process(void) {
  struct utsname system;
  struct tms used;
  struct timespec moment = {0, 1};
  sigset_t set, before;
  struct sigaction action;
  struct itimerspec time = {{0, 0}, {100, 0}};
  CHECK(getpid() > 0 && getppid() >= 0 && getpgrp() >= 0 && uname(&system) == 0 &&
        times(&used) != (clock_t)-1);
  CHECK(kill(getpid(), 0) == 0 && raise(SIGUSR2) == 0 && kill(getpid(), SIGUSR2) == 0 &&
        pthread_kill(main_thread, SIGUSR2) == 0);
  CHECK(sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = 1}) == 0);
  sigemptyset(&set), sigaddset(&set, SIGHUP);
  CHECK(sigprocmask(SIG_BLOCK, &set, &before) == 0 && pthread_sigmask(SIG_SETMASK, &before, NULL) == 0 &&
        sigpending(&set) == 0);
  CHECK(sigaction(SIGHUP, NULL, &action) == 0 && sigaction(SIGHUP, &action, NULL) == 0 &&
        signal(SIGHUP, SIG_DFL) != SIG_ERR);
  CHECK(alarm(1000) == 0 && alarm(0) > 0 && nanosleep(&moment, NULL) == 0 && sleep(0) == 0);
  CHECK(timer_settime(second_timer, 0, &time, NULL) == 0 && timer_gettime(second_timer, &time) == 0 &&
        timer_getoverrun(second_timer) == 0);
  CHECK(sem_post(&semaphore) == 0 && sem_trywait(&semaphore) == 0);
  if (sigsetjmp(place, 1) == 0) siglongjmp(place, 1);
  // Waits that end at once: the signal is pending.
  sigemptyset(&set), sigaddset(&set, SIGUSR2);
  CHECK(sigprocmask(SIG_BLOCK, &set, &before) == 0 && raise(SIGUSR2) == 0 && sigsuspend(&before) == -1 &&
        errno == EINTR);
  CHECK(raise(SIGUSR2) == 0 && sigpause(SIGUSR2) == -1 && errno == EINTR &&
        sigprocmask(SIG_SETMASK, &before, NULL) == 0);
  CHECK(sigset(SIGHUP, SIG_DFL) != SIG_ERR && clock_gettime(CLOCK_MONOTONIC, &moment) == 0);
  if (ticks % 4 == 0) use_children(ticks / 4);
}

static void tick(int number) {
  (void)number;
  const int error = errno;
  use_files();
  use_descriptors();
  use_process();
  // The next one comes after a while, so that the rank goes on.
  if (++ticks < wanted_ticks) timer_settime(timer, 0, &soon, NULL);
  errno = error;
}

static void print(void) {
  for (int i = 0; i < 64; ++i) printf("%d", i % 10);
  printf("\n");
}

static void allocate(void) {
  static unsigned char* all[64];
  for (int i = 0; i < 64; ++i) memset(all[i] = malloc(8 + i), i, 8 + i);
  for (int i = 0; i < 64; ++i) {
    CHECK(all[i][0] == i && all[i][7 + i] == i);
    free(all[i]);
  }
}

static void open_and_close(void) {
  const int file = open("/dev/null", O_RDONLY);
  CHECK(file > 2 && close(file) == 0);
  FILE* const stream = fopen("/dev/null", "w");
  CHECK(stream != NULL && fprintf(stream, "x") == 1 && fclose(stream) == 0);
}

static void fork_and_wait(void) {
  const pid_t child = fork();
  if (child == 0) _exit(3);
  int status = 0;
  pid_t ended = -1;
  while ((ended = waitpid(child, &status, 0)) < 0 && errno == EINTR) {
  }
  CHECK(child > 0 && ended == child && WEXITSTATUS(status) == 3);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  snprintf(file_name, sizeof file_name, "/tmp/clump_safe_%d_%d", (int)getpid(), rank);
  snprintf(other_name, sizeof other_name, "%s_other", file_name);
  snprintf(folder_name, sizeof folder_name, "%s_folder", file_name);
  main_thread = pthread_self();
  sem_init(&semaphore, 0, 0);
  char kept[80];
  snprintf(kept, sizeof kept, "%s_locked", file_name);
  locked = open(kept, O_RDWR | O_CREAT, 0600);
  unlink(kept);
  install(SIGUSR2, nothing, SA_RESTART);
  install(SIGUSR1, tick, SA_RESTART);
  struct sigevent other = {.sigev_notify = SIGEV_NONE},
                  event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  CHECK(timer_create(CLOCK_MONOTONIC, &other, &second_timer) == 0 &&
        timer_create(CLOCK_MONOTONIC, &event, &timer) == 0);
  void (*const parts[])(void) = {print, allocate, open_and_close, fork_and_wait};
  for (part = 0; part < 4; ++part) {
    MPI_Barrier(MPI_COMM_WORLD);
    ticks = 0;
    wanted_ticks = part == 3 ? 8 : 16;
    CHECK(timer_settime(timer, 0, &soon, NULL) == 0);
    while (ticks < wanted_ticks) parts[part]();
  }
  return end();
}
