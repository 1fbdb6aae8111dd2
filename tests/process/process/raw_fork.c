// _Fork(), which handlers may call, while other ranks of the process open and close streams that have no
// descriptor. Right: the child ends, and uses streams, as in a process whose only thread has called it;
// signals for it are its own. For: handlers that report.
#define _GNU_SOURCE
#include <errno.h>
#include <sys/wait.h>

#include "../signals/check.h"

enum { kForks = 100 };

static ssize_t take(void* cookie, const char* text, size_t bytes) {
  (void)text;
  *(size_t*)cookie += bytes;
  return (ssize_t)bytes;
}

static int use_streams(void) {
  char* text = NULL;
  size_t size = 0, taken = 0;
  FILE* const memory = open_memstream(&text, &size);
  FILE* const cookie = fopencookie(&taken, "w", (cookie_io_functions_t){.write = take});
  if (memory == NULL || cookie == NULL) return 0;
  fprintf(memory, "%d", 1234);
  fprintf(cookie, "%d", 12345);
  const int are_closed = fclose(memory) == 0 && fclose(cookie) == 0;
  const int is_right = are_closed && size == 4 && strcmp(text, "1234") == 0 && taken == 5;
  free(text);
  return is_right;
}

static volatile sig_atomic_t handled;
static void handle(int number) {
  (void)number;
  ++handled;
}

static int status_of(pid_t child) {
  int status = -1;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

static void fork_beside_streams(FILE* before) {
  for (int i = 0; i < kForks && !wrong; ++i) {
    const pid_t child = _Fork();
    if (child == 0) {
      alarm(30);  // by its default action: the child hangs
      _exit(fprintf(before, "%d", i) > 0 && use_streams() ? 0 : 1);
    }
    CHECK(status_of(child) == 0);
  }
}

/// The child handles what it sends itself, and a signal whose action is the default ends it, and no rank.
static void signals_of_child(void) {
  install(SIGUSR1, handle, 0);
  handled = 0;
  pid_t child = _Fork();
  if (child == 0) {
    alarm(30);
    raise(SIGUSR1);
    kill(getpid(), SIGUSR1);
    _exit(handled == 2 ? 0 : 1);
  }
  CHECK(status_of(child) == 0 && handled == 0);
  child = _Fork();
  if (child == 0) {
    alarm(30);
    for (;;) pause();
  }
  CHECK(kill(child, SIGTERM) == 0);
  const int status = status_of(child);
  CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (rank == 0) {
    char* text = NULL;
    size_t bytes = 0;
    FILE* const before = open_memstream(&text, &bytes);
    fork_beside_streams(before);
    signals_of_child();
    fclose(before);
    free(text);
    for (int i = 1; i < size; ++i) MPI_Send(NULL, 0, MPI_INT, i, 0, MPI_COMM_WORLD);
  } else {
    MPI_Request request;
    int done = 0;
    MPI_Irecv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    while (!done) {
      for (int i = 0; i < 50; ++i) CHECK(use_streams());
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
  }
  return end();
}
