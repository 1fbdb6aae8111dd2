// What a child of fork() takes over from its rank, and from no other rank of the process: handlers of
// pthread_atfork(), exit handlers, static destructors, buffers of streams, descriptors.
//
// Stands for programs that fork workers which end by exit(), and libraries with handlers of pthread_atfork()
// (allocators, BLAS libraries, Python); for pipes to a filter, which ends when its input does.
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

static int rank, size, bad;

#define CHECK(condition)                                                                          \
  do {                                                                                            \
    if (!(condition)) std::printf("rank %d, line %d: %s\n", rank, __LINE__, #condition), bad = 1; \
  } while (0)

static std::string own_file(const char* what) {
  return std::string(what) + "." + std::to_string(rank) + "." + std::to_string(getppid());
}

static void append(const std::string& path, const char* text) {
  const int file = open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (write(file, text, std::strlen(text)) < 0) std::_Exit(99);
  close(file);
}

static std::string content(const std::string& path) {
  std::string text;
  if (std::FILE* const file = std::fopen(path.c_str(), "r")) {
    for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
    std::fclose(file);
  }
  return text;
}

static bool is_child;
static std::string log_path;  // destructed after the object below
struct Logs {
  ~Logs() {
    if (is_child) append(log_path, "d");
  }
};
static Logs logs;

static int code_of(pid_t child) {
  int status = 0;
  return waitpid(child, &status, 0) == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int before, after;
static void count_before() { ++before; }
static void count_after() { ++after; }
static void mark_child() { before = 100 + rank; }

/// Odd ranks fork; the others' handlers, exit handlers and destructors must not run.
static void test_handlers() {
  const bool forks = rank % 2 == 1 || size == 1;
  log_path = own_file("fork_log");
  unlink(log_path.c_str());
  CHECK(pthread_atfork(count_before, count_after, mark_child) == 0);
  std::atexit([] {
    if (is_child) append(log_path, "a");
  });
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; forks && i < 3; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      is_child = true;
      std::exit(before == 100 + rank ? 7 : 8);
    }
    CHECK(code_of(child) == 7);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(before == (forks ? 3 : 0));
  CHECK(after == (forks ? 3 : 0));
  CHECK(content(log_path) == (forks ? "adadad" : ""));
  unlink(log_path.c_str());
}

/// A child that ends by exit() writes out what its own rank had in buffers, and nothing else.
static void test_streams() {
  const std::string path = own_file("fork_stream");
  std::FILE* const file = std::fopen(path.c_str(), "w");
  CHECK(file != nullptr);
  std::fprintf(file, "rank %d\n", rank);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 1) {
    std::fflush(file);
    const pid_t child = fork();
    if (child == 0) std::exit(0);
    CHECK(code_of(child) == 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  std::fclose(file);
  CHECK(content(path) == "rank " + std::to_string(rank) + "\n");
  unlink(path.c_str());
}

/// All ranks fork a filter at a time: each filter's input ends when its rank closes it.
static void test_filter() {
  int in[2], out[2];
  CHECK(pipe(in) == 0 && pipe(out) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  const pid_t child = fork();
  if (child == 0) {
    dup2(in[0], 0);
    dup2(out[1], 1);
    for (const int end : {in[0], in[1], out[0], out[1]}) close(end);
    execlp("sort", "sort", nullptr);
    _exit(99);
  }
  close(in[0]);
  close(out[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  dprintf(in[1], "b\na\n%d\n", rank);
  close(in[1]);
  std::string sorted;
  char part[64];
  for (ssize_t got = read(out[0], part, sizeof part); got > 0; got = read(out[0], part, sizeof part))
    sorted.append(part, static_cast<std::size_t>(got));
  close(out[0]);
  CHECK(sorted == std::to_string(rank) + "\na\nb\n");
  CHECK(code_of(child) == 0);
}

/// A connection of one rank ends when it closes it, whatever helpers other ranks have started since.
static void test_connection() {
  int ends[2];
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  pid_t helper = -1;
  if (rank % 2 == 1) {
    helper = fork();
    if (helper == 0) {
      execlp("sleep", "sleep", "30", nullptr);
      _exit(99);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank % 2 == 0) {
    close(ends[0]);
    char byte;
    CHECK(read(ends[1], &byte, 1) == 0);
    close(ends[1]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (helper > 0) {
    kill(helper, SIGKILL);
    int status = 0;
    CHECK(waitpid(helper, &status, 0) == helper);
    close(ends[0]);
    close(ends[1]);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  test_handlers();
  test_streams();
  test_filter();
  test_connection();
  int any = 0;
  MPI_Reduce(&bad, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0 && any == 0) std::printf("children of fork: ok\n");
  MPI_Finalize();
  return bad;
}
