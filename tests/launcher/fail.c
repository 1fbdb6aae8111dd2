/* fail WAY RANK: rank RANK ends in the given way, while the others wait for a message that never comes
 * ("wait"), or go on to MPI_Finalize if WAY begins with '+'. */
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int touch_null(void) { return *(volatile int*)NULL; }

/* As a mangled name, f is the type float. */
static __attribute__((noinline)) void f(volatile int* nowhere) { *nowhere = 1; }

static int recurse(volatile int depth) {
  volatile char frame[4096];
  frame[0] = (char)depth;
  return depth < 0 ? 0 : recurse(depth + 1) + frame[0];
}

static int divide(volatile int by) { return 7 / by; }

static void own_handler(int number) {
  (void)number;
  static const char said[] = "the program's own handler\n";
  if (write(STDOUT_FILENO, said, sizeof said - 1) < 0) _exit(22);
  _exit(21);
}

/* A fault of the library's own: of the thread that looks after the workers. */
static void look_for_monitor(void) {
  DIR* const tasks = opendir("/proc/self/task");
  for (const struct dirent* task; (task = readdir(tasks)) != NULL;) {
    char path[300], name[20] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE* const file = fopen(path, "r");
    if (file == NULL) continue;
    if (fgets(name, sizeof name, file) != NULL && strcmp(name, "clump monitor\n") == 0)
      tgkill(getpid(), atoi(task->d_name), SIGSEGV);
    fclose(file);
  }
  closedir(tasks);
}

/* Under load that thread may not have its name yet. */
static void hit_monitor(void) {
  for (;;) {
    look_for_monitor();
    sleep(1);
  }
}

/* An error of the program's own: a code of a class of the standard's, or of a class of its own. */
static void call_added(const char* way) {
  int class = MPI_ERR_RANK, code = 0;
  if (strcmp(way, "added-class") == 0) MPI_Add_error_class(&class);
  MPI_Add_error_code(class, &code);
  MPI_Add_error_string(code, "a word of the program's");
  MPI_Comm_call_errhandler(MPI_COMM_WORLD, code);
}

static void fail(const char* way) {
  void (*volatile nowhere)(void) = NULL;
  if (strcmp(way, "segv") == 0) touch_null();
  if (strcmp(way, "short-name") == 0) f(NULL);
  if (strcmp(way, "call-null") == 0) nowhere();
  if (strcmp(way, "overflow") == 0) recurse(0);
  if (strcmp(way, "fpe") == 0) divide(0);
  if (strcmp(way, "abort") == 0) abort();
  size_t (*volatile length)(const char*) = strlen;  // which compilers put into its place
  if (strcmp(way, "strlen") == 0) exit((int)length((const char*)(size_t)atoi("16")));
  if (strcmp(way, "send-null") == 0) MPI_Send((void*)4096, 100, MPI_INT, 0, 1, MPI_COMM_WORLD);
  if (strcmp(way, "monitor") == 0) hit_monitor();
  if (strcmp(way, "mpi-abort") == 0) MPI_Abort(MPI_COMM_WORLD, 7);
  if (strcmp(way, "mpi-abort-0") == 0) MPI_Abort(MPI_COMM_WORLD, 0);
  if (strcmp(way, "added-code") == 0 || strcmp(way, "added-class") == 0) call_added(way);
  if (strcmp(way, "exit") == 0) exit(5);
  if (strcmp(way, "exit-zero") == 0) exit(0);
  if (strcmp(way, "_exit") == 0) _exit(6);
  if (strcmp(way, "bad-rank") == 0) MPI_Send(NULL, 0, MPI_INT, 1000, 0, MPI_COMM_WORLD);
  if (strcmp(way, "own-handler") == 0) {
    signal(SIGSEGV, own_handler);
    touch_null();
  }
  if (strcmp(way, "default-handler") == 0) {
    signal(SIGSEGV, own_handler);
    signal(SIGSEGV, SIG_DFL);
    touch_null();
  }
}

int main(int argc, char** argv) {
  if (argc != 3) return 99;
  const char* way = argv[1];
  const int others_go_on = way[0] == '+';
  if (others_go_on) ++way;
  if (strcmp(way, "early") == 0) exit(0);
  if (strcmp(way, "early-bad") == 0) exit(3);

  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int chosen = rank == atoi(argv[2]);
  if (chosen) {
    fail(way);
  } else if (!others_go_on) {
    MPI_Recv(NULL, 0, MPI_INT, atoi(argv[2]), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    fprintf(stderr, "noise of rank %d\n", rank);
  }
  MPI_Finalize();
  return chosen && strcmp(way, "return") == 0 ? 9 : 0;
}
