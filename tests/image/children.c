/* Programs that a rank starts see its environment, and exit handlers may finalize MPI. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rank.h"

static const char kCommand[] = "exit ${RANK_OF_TEST:-99}";

static void report(const char* how, int status) {
  printf("%s %d\n", how, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

static int child(int way) {
  const pid_t pid = fork();
  if (pid == 0) {
    char* arguments[] = {"sh", "-c", (char*)kCommand, NULL};
    if (way == 0) execl("/bin/sh", "sh", "-c", kCommand, (char*)NULL);
    if (way == 1) execlp("sh", "sh", "-c", kCommand, (char*)NULL);
    if (way == 2) execv("/bin/sh", arguments);
    if (way == 3) execvp("sh", arguments);
    _exit(98);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  return status;
}

static void finalize(void) {
  MPI_Finalize();
  int done = 0;
  MPI_Finalized(&done);
  report("finalized", done << 8);
}

int main(void) {
  const int rank = begin_rank();
  char text[16];
  snprintf(text, sizeof text, "%d", rank);
  setenv("RANK_OF_TEST", text, 1);
  report("system", system(kCommand));
  report("execl", child(0));
  report("execlp", child(1));
  report("execv", child(2));
  report("execvp", child(3));
  return atexit(finalize);
}
