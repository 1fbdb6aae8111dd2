// Parts of a job are different programs, or have different arguments: each rank finds its own in /proc/self.
// Run as `mpiexec -n 2 own_program a : -n 2 own_program_other b c`: the second is the same source with OTHER.
//
// Stands for programs that look for their data beside themselves (readlink of /proc/self/exe, realpath,
// getauxval), name themselves in messages, read their arguments again, or start themselves once more.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef OTHER
#define NAME "process_own_program_other"
enum { kArguments = 3 };
static const char* const arguments[] = {"b", "c"};
#else
#define NAME "process_own_program"
enum { kArguments = 2 };
static const char* const arguments[] = {"a"};
#endif

static int rank, bad;

#define CHECK(condition)                                                                                \
  do {                                                                                                  \
    if (!(condition)) printf("rank %d (%s), line %d: %s\n", rank, NAME, __LINE__, #condition), bad = 1; \
  } while (0)

/// Whether the last part of a path is this program's name.
static int is_mine(const char* path) {
  const char* const slash = path != NULL ? strrchr(path, '/') : NULL;
  return slash != NULL && strcmp(slash + 1, NAME) == 0;
}

static void look(char** argv) {
  char path[PATH_MAX] = "", numbered[64], text[4096];
  CHECK(readlink("/proc/self/exe", path, sizeof path - 1) > 0 && is_mine(path));
  memset(path, 0, sizeof path);
  CHECK(readlinkat(AT_FDCWD, "/proc/thread-self/exe", path, sizeof path - 1) > 0 && is_mine(path));
  snprintf(numbered, sizeof numbered, "/proc/%d/exe", (int)getpid());
  memset(path, 0, sizeof path);
  CHECK(readlink(numbered, path, sizeof path - 1) > 0 && is_mine(path));
  CHECK(realpath("/proc/self/exe", path) != NULL && is_mine(path));
  CHECK(readlink("/proc/self/exe", path, 3) == 3);
  CHECK(is_mine((const char*)getauxval(AT_EXECFN)));
  CHECK(strcmp(program_invocation_short_name, NAME) == 0 && strcmp(program_invocation_name, argv[0]) == 0);

  struct stat own, opened;
  CHECK(realpath("/proc/self/exe", path) != NULL && stat(path, &own) == 0);
  const int file = open("/proc/self/exe", O_RDONLY);
  CHECK(file >= 0 && fstat(file, &opened) == 0 && opened.st_ino == own.st_ino);
  close(file);
  CHECK(stat("/proc/self/exe", &opened) == 0 && opened.st_ino == own.st_ino);
  FILE* const stream = fopen("/proc/self/exe", "rb");
  CHECK(stream != NULL && fstat(fileno(stream), &opened) == 0 && opened.st_ino == own.st_ino);
  if (stream != NULL) fclose(stream);

  for (int times = 0; times < 2; ++times) {
    const int line = open("/proc/self/cmdline", O_RDONLY);
    const ssize_t bytes = line >= 0 ? read(line, text, sizeof text - 1) : -1;
    close(line);
    CHECK(bytes > 0 && is_mine(text));
    const char* at = text;
    for (int i = 1; i < kArguments; ++i) {
      at += strlen(at) + 1;
      CHECK(at < text + bytes && strcmp(at, arguments[i - 1]) == 0);
    }
    CHECK(at + strlen(at) + 1 == text + bytes);
  }
}

int main(int argc, char** argv) {
  if (argc > 1 && !strcmp(argv[1], "child")) return is_mine(argv[0]) ? 0 : 1;
  int sum;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  CHECK(argc == kArguments);
  look(argv);
  // A child is the same program, and starts that.
  const pid_t child = fork();
  if (child == 0) {
    char path[PATH_MAX] = "";
    if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0 || !is_mine(path)) _exit(3);
    execl("/proc/self/exe", argv[0], "child", (char*)NULL);
    _exit(4);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  MPI_Reduce(&bad, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("own program: %s\n", sum ? "WRONG" : "ok");
  MPI_Finalize();
  return bad;
}
