// Every way to start and to wait for a child: a rank has its own children only, as a process has. Without
// arguments: all of them, in turn, on all ranks at once.
//
// Stands for programs that run tools beside MPI: with fork() and wait() loops, posix_spawn(), vfork() and
// exec, popen(), system(), a pidfd in poll(); and for libraries that reap with waitpid(-1, WNOHANG).
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char** environ;
static int rank, size, bad;

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      printf("rank %d, line %d: %s (%s)\n", rank, __LINE__, #condition, strerror(errno)), bad = 1; \
  } while (0)

/// A child that ends with `code` after so many milliseconds.
static pid_t child(int code, int milliseconds) {
  const pid_t made = fork();
  if (made == 0) {
    usleep((useconds_t)milliseconds * 1000);
    _exit(code);
  }
  return made;
}

static int own_code(int i) { return 16 * (rank % 8) + i; }

static void test_any(void) {
  enum { kChildren = 5 };
  pid_t all[kChildren];
  for (int i = 0; i < kChildren; ++i) all[i] = child(own_code(i), (i * 37 + rank * 11) % 60);
  for (int n = 0; n < kChildren; ++n) {
    int status = 0, which = -1;
    struct rusage usage;
    const pid_t got = n % 3 == 0   ? wait(&status)
                      : n % 3 == 1 ? waitpid(-1, &status, 0)
                                   : wait3(&status, 0, &usage);
    for (int i = 0; i < kChildren; ++i)
      if (all[i] == got) which = i;
    CHECK(which >= 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == own_code(which));
    if (which >= 0) all[which] = 0;
  }
  errno = 0;
  CHECK(wait(NULL) == -1 && errno == ECHILD);
  CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
  siginfo_t info;
  CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == -1 && errno == ECHILD);
}

static void test_without_hanging(void) {
  const pid_t slow = child(own_code(1), 300);
  int status = 0;
  CHECK(waitpid(-1, &status, WNOHANG) == 0);
  CHECK(waitpid(slow, &status, WNOHANG) == 0);
  siginfo_t info;
  memset(&info, 0xff, sizeof info);
  CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOHANG) == 0 && info.si_pid == 0);
  CHECK(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == slow &&
        info.si_status == own_code(1));
  CHECK(waitid(P_PID, (id_t)slow, &info, WEXITED | WNOWAIT) == 0 && info.si_code == CLD_EXITED);
  CHECK(wait4(slow, &status, 0, NULL) == slow && WEXITSTATUS(status) == own_code(1));
}

static void test_stops(void) {
  const pid_t made = child(0, 60000);
  int status = 0;
  kill(made, SIGSTOP);
  CHECK(waitpid(-1, &status, WUNTRACED) == made && WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
  kill(made, SIGCONT);
  CHECK(waitpid(-1, &status, WCONTINUED) == made && WIFCONTINUED(status));
  siginfo_t info;
  kill(made, SIGKILL);
  CHECK(waitid(P_ALL, 0, &info, WEXITED) == 0 && info.si_pid == made && info.si_code == CLD_KILLED &&
        info.si_status == SIGKILL);
}

static void test_groups(void) {
  const pid_t here = child(own_code(1), 80), there = child(own_code(2), 10);
  CHECK(setpgid(there, there) == 0);
  int status = 0;
  CHECK(waitpid(0, &status, 0) == here && WEXITSTATUS(status) == own_code(1));
  siginfo_t info;
  CHECK(waitpid(0, &status, 0) == -1 && errno == ECHILD);
  CHECK(waitid(P_PGID, (id_t)there, &info, WEXITED | WNOWAIT) == 0 && info.si_pid == there);
  CHECK(waitpid(-there, &status, 0) == there && WEXITSTATUS(status) == own_code(2));
}

/// Nobody waits for a child of another rank.
static void test_foreign(void) {
  const pid_t mine = child(own_code(3), 100);
  int theirs = 0, number = mine;
  MPI_Sendrecv(&number, 1, MPI_INT, (rank + 1) % size, 0, &theirs, 1, MPI_INT, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  siginfo_t info;
  if (size > 1) {
    CHECK(waitpid(theirs, NULL, 0) == -1 && errno == ECHILD);
    CHECK(waitid(P_PID, (id_t)theirs, &info, WEXITED) == -1 && errno == ECHILD);
    const int descriptor = (int)syscall(SYS_pidfd_open, theirs, 0);
    if (descriptor >= 0) {
      CHECK(waitid((idtype_t)3, (id_t)descriptor, &info, WEXITED) == -1 && errno == ECHILD);
      close(descriptor);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  const int own = (int)syscall(SYS_pidfd_open, mine, 0);
  if (own >= 0) {
    struct pollfd ends = {own, POLLIN, 0};
    CHECK(poll(&ends, 1, -1) == 1);
    CHECK(waitid((idtype_t)3, (id_t)own, &info, WEXITED) == 0 && info.si_pid == mine &&
          info.si_status == own_code(3));
    close(own);
  } else {
    CHECK(waitpid(mine, NULL, 0) == mine);
  }
  CHECK(wait(NULL) == -1 && errno == ECHILD);
}

static int body(void* code) { _exit((int)(long)code); }

static void test_ways_to_start(void) {
  char text[16], *words[] = {"sh", "-c", text, NULL};
  snprintf(text, sizeof text, "exit %d", own_code(1));
  pid_t spawned = 0, searched = 0;
  CHECK(posix_spawn(&spawned, "/bin/sh", NULL, NULL, words, environ) == 0);
  CHECK(posix_spawnp(&searched, "sh", NULL, NULL, words, environ) == 0);
  CHECK(posix_spawn(NULL, "/no/such", NULL, NULL, words, environ) == ENOENT);
  const pid_t quick = vfork();
  if (quick == 0) {
    execl("/bin/sh", "sh", "-c", text, (char*)NULL);
    _exit(127);
  }
  static char stack[8][16384];
  const pid_t cloned = clone(body, stack[rank % 8] + sizeof stack[0], SIGCHLD, (void*)(long)own_code(1));
  CHECK(quick > 0 && cloned > 0);
  for (int n = 0; n < 4; ++n) {
    int status = 0;
    const pid_t got = wait(&status);
    CHECK(got == spawned || got == searched || got == quick || got == cloned);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == own_code(1));
  }
  CHECK(wait(NULL) == -1 && errno == ECHILD);
}

static void test_shell(void) {
  char number[16], command[64], line[64] = "";
  snprintf(number, sizeof number, "%d", rank);
  setenv("CHILDREN_RANK", number, 1);
  const pid_t other = child(own_code(4), 20);
  snprintf(command, sizeof command, "sleep 0.0%d; exit $((CHILDREN_RANK + 3))", rank % 5);
  int status = system(command);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == rank + 3);
  CHECK(system("kill -TERM $$") == SIGTERM);
  CHECK(system(NULL) != 0);
  FILE* pipe = popen("echo rank $CHILDREN_RANK", "r");
  CHECK(pipe != NULL && fgets(line, sizeof line, pipe) != NULL && atoi(line + 5) == rank);
  CHECK(pclose(pipe) == 0);
  // The command ends when it has read all, which it sees only if no other child has the pipe open.
  pipe = popen(
      "while read word; do test \"$word\" = end && break; done; cat > /dev/null; exit $((CHILDREN_RANK + 5))",
      "we");
  CHECK(pipe != NULL && fprintf(pipe, "begin\nend\nmore\n") > 0);
  MPI_Barrier(MPI_COMM_WORLD);
  FILE* second = popen("sleep 0.1; exit 2", "w");
  status = pclose(pipe);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == rank + 5);
  status = pclose(second);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
  errno = 0;
  CHECK(popen("true", "x") == NULL && errno == EINVAL);
  CHECK(wait(&status) == other && WEXITSTATUS(status) == own_code(4));
  CHECK(wait(NULL) == -1 && errno == ECHILD);
}

static void* waiter(void* count) {
  int status = 0;
  for (pid_t got; (got = waitpid(-1, &status, 0)) > 0;) __atomic_add_fetch((int*)count, 1, __ATOMIC_RELAXED);
  return NULL;
}

/// Threads of a rank wait for the same children.
static void test_threads(void) {
  enum { kChildren = 6, kThreads = 3 };
  int count = 0;
  pthread_t threads[kThreads];
  for (int i = 0; i < kChildren; ++i) child(0, 20 * i);
  for (int i = 0; i < kThreads; ++i) pthread_create(&threads[i], NULL, waiter, &count);
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  CHECK(count == kChildren);
}

/// A child has no children of its parent's, and its own are no matter of the parent's.
static void test_grandchildren(void) {
  const pid_t slow = child(own_code(1), 50);
  const pid_t middle = fork();
  if (middle == 0) {
    int wrong = wait(NULL) != -1 || errno != ECHILD;
    const pid_t below = child(5, 10);
    int status = 0;
    wrong |= wait(&status) != below || WEXITSTATUS(status) != 5 || system("exit 6") != 6 << 8;
    _exit(wrong);
  }
  int status = 0;
  CHECK(waitpid(middle, &status, 0) == middle && status == 0);
  CHECK(wait(&status) == slow && WEXITSTATUS(status) == own_code(1));
  CHECK(wait(&status) == -1 && errno == ECHILD);
}

/// Processor time of the own children, not of all.
static void test_usage(void) {
  struct rusage before, after;
  CHECK(getrusage(RUSAGE_CHILDREN, &before) == 0);
  const pid_t busy = rank == 0 ? fork() : -1;
  if (busy == 0) {
    for (const clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;) {
    }
    _exit(0);
  }
  if (rank == 0) CHECK(wait(NULL) == busy);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(getrusage(RUSAGE_CHILDREN, &after) == 0);
  const double used = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec) +
                      1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec) +
                      (double)(after.ru_stime.tv_sec - before.ru_stime.tv_sec) +
                      1e-6 * (double)(after.ru_stime.tv_usec - before.ru_stime.tv_usec);
  if (rank == 0)
    CHECK(used > 0.15);
  else
    CHECK(used < 0.001);
}

static void test_bad_arguments(void) {
  siginfo_t info;
  CHECK(waitpid(-1, NULL, 0x40) == -1 && errno == EINVAL);
  CHECK(waitid(P_ALL, 0, &info, 0) == -1 && errno == EINVAL);
  CHECK(waitid((idtype_t)99, 0, &info, WEXITED) == -1 && errno == EINVAL);
  CHECK(waitid((idtype_t)3, 4000, &info, WEXITED) == -1 && errno == EBADF);
  CHECK(waitpid(1, NULL, 0) == -1 && errno == ECHILD);
}

int main(int argc, char** argv) {
  int all;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &all);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static void (*const tests[])(void) = {test_any,    test_without_hanging, test_stops,
                                        test_groups, test_foreign,         test_ways_to_start,
                                        test_shell,  test_threads,         test_grandchildren,
                                        test_usage,  test_bad_arguments};
  for (unsigned i = 0; i < sizeof tests / sizeof *tests; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    tests[i]();
  }
  MPI_Reduce(&bad, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("children: %s\n", all ? "WRONG" : "ok");
  MPI_Finalize();
  return bad;
}
