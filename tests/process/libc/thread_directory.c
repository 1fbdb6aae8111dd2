// A thread that a rank has made before the rank changes its directory and its file mode mask. Right: it sees
// both, as in a process. With "thread" it is the thread that changes the directory: the rank sees that too.
// With "refused" likewise, and the job ends with an error.
#include "check.h"

#include <pthread.h>

static pthread_barrier_t both;
static int by_thread;
static char seen[512];
static mode_t mode;

static void* run(void* argument) {
  (void)argument;
  pthread_barrier_wait(&both);  // it runs
  if (by_thread && chdir(folder[0] != '\0' ? folder : "/") != 0) check(0, "chdir: %s", strerror(errno));
  pthread_barrier_wait(&both);  // the directory has changed
  if (getcwd(seen, sizeof seen) == NULL) seen[0] = '\0';
  const int file = open("by_thread", O_CREAT | O_WRONLY, 0777);
  struct stat status;
  if (fstat(file, &status) == 0) mode = status.st_mode & 0777;
  close(file);
  return NULL;
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  if (strcmp(argv[1], "refused") != 0) make_folder();
  by_thread = strcmp(argv[1], "main") != 0;
  char name[128], now[512];
  pthread_barrier_init(&both, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  pthread_barrier_wait(&both);
  umask(rank % 2 != 0 ? 077 : 022);
  if (!by_thread && chdir(folder) != 0) check(0, "chdir: %s", strerror(errno));
  step();
  pthread_barrier_wait(&both);
  step();
  pthread_join(thread, NULL);
  check_text("directory of the thread", seen, folder);
  check_text("directory of the rank", getcwd(now, sizeof now), folder);
  check(mode == (rank % 2 != 0 ? 0700 : 0755), "mode of the thread's file is %o", mode);
  snprintf(name, sizeof name, "%s/by_thread", folder);
  check(access(name, F_OK) == 0, "the thread's file is elsewhere");
  step();
  if (chdir("/") != 0) return 3;
  // One that is made now begins with what the rank has.
  by_thread = 0;
  pthread_create(&thread, NULL, run, NULL);
  pthread_barrier_wait(&both);
  if (chdir(folder) != 0) return 3;
  pthread_barrier_wait(&both);
  pthread_join(thread, NULL);
  check_text("directory of the second thread", seen, folder);
  return end();
}
