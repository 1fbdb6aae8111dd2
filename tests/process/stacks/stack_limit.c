// Stands for programs that look at RLIMIT_STACK and change it for themselves and for what they start: shells'
// ulimit, test drivers, interpreters that derive their recursion limit from it, run-time systems that ask
// pthread_getattr_np() where their stack is. Right: every rank has limits of its own. What one sets the
// others do not see; a child that it forks has the rank's.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int rank, wrong;

static void expect(int right, const char* what) {
  if (right) return;
  printf("rank %d: %s\n", rank, what);
  wrong = 1;
}

static rlim_t soft(void) {
  struct rlimit limit = {0, 0};
  getrlimit(RLIMIT_STACK, &limit);
  return limit.rlim_cur;
}

static rlim_t soft_by_prlimit(pid_t process) {
  struct rlimit limit = {0, 0};
  prlimit(process, RLIMIT_STACK, NULL, &limit);
  return limit.rlim_cur;
}

/// The soft limit of a child, in MiB.
static int childs(void) {
  const pid_t child = fork();
  if (child == 0) _exit((int)(soft() >> 20));
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct rlimit first, now;
  getrlimit(RLIMIT_STACK, &first);
  MPI_Barrier(MPI_COMM_WORLD);
  now = first;
  now.rlim_cur = (rlim_t)(16 + rank) << 20;
  expect(setrlimit(RLIMIT_STACK, &now) == 0, "setrlimit(RLIMIT_STACK) within the hard limit failed");
  MPI_Barrier(MPI_COMM_WORLD);
  expect(soft() == now.rlim_cur, "getrlimit() does not show what this rank has set");
  expect(soft_by_prlimit(0) == now.rlim_cur && soft_by_prlimit(getpid()) == now.rlim_cur,
         "prlimit() does not show it");
  expect(childs() == 16 + rank, "a child has another limit");

  // The stack as the run-time system of a language would look for it: it holds this function's variables, and
  // is as large as allowed.
  pthread_attr_t attributes;
  void* lowest = NULL;
  size_t bytes = 0;
  pthread_getattr_np(pthread_self(), &attributes);
  pthread_attr_getstack(&attributes, &lowest, &bytes);
  pthread_attr_destroy(&attributes);
  expect((char*)lowest < (char*)&now && (char*)&now < (char*)lowest + bytes,
         "pthread_getattr_np() shows another stack");
  expect(bytes > ((size_t)15 << 20), "pthread_getattr_np() shows a stack that is smaller than the limit");

  // What is wrong, and what is of other processes.
  struct rlimit bad = {2 << 20, 1 << 20};
  errno = 0;
  expect(setrlimit(RLIMIT_STACK, &bad) == -1 && errno == EINVAL,
         "a soft limit above the hard one is not EINVAL");
  expect(soft() == now.rlim_cur, "what failed has changed the limit");
  expect(soft_by_prlimit(getppid()) != 0, "prlimit() of the parent failed");
  struct rlimit files = {0, 0};
  expect(getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur > 0, "getrlimit() of something else failed");

  // A smaller one takes nothing away that is in use.
  now.rlim_cur = 1 << 20;
  expect(setrlimit(RLIMIT_STACK, &now) == 0 && soft() == 1 << 20, "the limit cannot be lowered");
  expect(childs() == 1, "a child does not have the lower limit");
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
