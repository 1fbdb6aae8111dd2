// A child that a rank has forked calls functions that another rank, or another thread of its own, was in the
// middle of: it does not wait for their locks, whose holders are not there. For: Python's multiprocessing,
// whose children log with the time of day, and daemons.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <iconv.h>
#include <locale.h>
#include <netdb.h>
#include <pthread.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>

#include "../signals/check.h"

static void tell_time(void) {
  const time_t now = 12345;
  struct tm parts;
  char text[60];
  localtime_r(&now, &parts);
  strftime(text, sizeof text, "%c %Z", &parts);
  mktime(&parts);
  gmtime_r(&now, &parts);
}
static void list_users(void) {
  setpwent();
  (void)getpwent();
  endpwent();
  (void)getpwnam("root");
}
static void find_address(void) {
  struct addrinfo* found = NULL;
  if (getaddrinfo("127.0.0.1", "80", NULL, &found) == 0) freeaddrinfo(found);
}
static void convert(void) {
  const iconv_t made = iconv_open("UTF-16", "UTF-8");
  if (made != (iconv_t)-1) iconv_close(made);
}
static void open_library(void) {
  void* const library = dlopen("libz.so.1", RTLD_NOW);
  if (library != NULL) dlclose(library);
}
static void change_locale(void) {
  setlocale(LC_ALL, "C.UTF-8");
  setlocale(LC_ALL, "C");
}
static void ask_environment(void) {
  for (int i = 0; i < 20; ++i) (void)getenv("HOME");
}
static void change_environment(void) { setenv("CLUMP_TEST_FORK", "1", 1); }
static void map_memory(void) {
  void* const block = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(block, 4096);
}
static void use_log(void) {
  setlogmask(LOG_UPTO(LOG_EMERG));
  syslog(LOG_DEBUG, "never written");
}
static void allocate(void) { free(malloc(300000)); }
static void draw(void) { (void)rand(); }

static void (*const all[])(void) = {tell_time,    list_users,    find_address,    convert,
                                    open_library, change_locale, ask_environment, change_environment,
                                    map_memory,   use_log,       allocate,        draw};
enum { kCount = sizeof all / sizeof *all };

static volatile int part = 0, is_over = 0;
static void* go_on(void* unused) {
  while (!is_over) all[part]();
  return unused;
}

static int children_that_hang(int number) {
  int count = 0;
  for (int i = 0; i < 12; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(20);  // by its default action: the child hangs
      for (int j = 0; j < 3; ++j) all[number]();
      _exit(0);
    }
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status == 0) continue;
    ++count;
    break;  // one is enough
  }
  return count;
}

int main(int argc, char** argv) {
  const int with_thread = argc > 1;
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  pthread_t thread;
  for (int number = 0; number < kCount; ++number) {
    part = number;
    // POSIX allows a child of a process with threads less than all of these.
    const int is_allowed =
        all[number] == ask_environment || all[number] == allocate || all[number] == map_memory;
    if (with_thread && !is_allowed) continue;
    if (with_thread) {
      is_over = 0;
      CHECK(pthread_create(&thread, NULL, go_on, NULL) == 0);
      CHECK(children_that_hang(number) == 0);
      is_over = 1;
      pthread_join(thread, NULL);
      continue;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank % 2 == 1) {
      CHECK(children_that_hang(number) == 0);
      MPI_Send(NULL, 0, MPI_INT, rank - 1, 0, MPI_COMM_WORLD);
    } else if (rank + 1 < size) {
      MPI_Request request;
      MPI_Irecv(NULL, 0, MPI_INT, rank + 1, 0, MPI_COMM_WORLD, &request);
      for (int done = 0; !done; MPI_Test(&request, &done, MPI_STATUS_IGNORE))
        for (int i = 0; i < 20; ++i) all[number]();
    }
  }
  return end();
}
