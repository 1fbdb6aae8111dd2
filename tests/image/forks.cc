// Ranks fork and start programs while others use the C library: children can do what POSIX allows them, and
// what they do is no business of the job's.
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "expect.h"
#include "rank.h"

extern char** environ;

namespace {

constexpr int kForks = 30;

int wait_for(pid_t child) {
  int status = 0;
  EXPECT(waitpid(child, &status, 0) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// Takes the locks of the C library, as often as it can.
void hammer(const std::atomic<bool>& stop) {
  FILE* nowhere = fopen("/dev/null", "w");
  while (!stop.load()) {
    std::vector<std::string> words(100, std::string(100, 'x'));
    for (const std::string& word : words) fprintf(nowhere, "%s\n", word.c_str());
    fflush(nullptr);
    (void)!write(STDOUT_FILENO, "", 0);
    free(malloc(300'000));
    setenv("HAMMER", words[0].c_str(), 1);
  }
  fclose(nowhere);
}

/// What the child reads from the pipe is what it has written, and nothing else.
int child_that_writes(int rank) {
  char text[64];
  snprintf(text, sizeof text, "child of %d", rank);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  if (dup2(ends[1], STDOUT_FILENO) < 0) return 2;
  if (write(STDOUT_FILENO, text, strlen(text)) < 0 || write(STDOUT_FILENO, "\n", 1) < 0) return 3;
  char back[64] = {};
  if (read(ends[0], back, sizeof back - 1) <= 0 || strncmp(back, text, strlen(text)) != 0) return 4;
  usleep(1000);
  if (sched_yield() != 0 || chdir("/") != 0) return 5;
  char* memory = static_cast<char*>(malloc(100));
  free(memory);
  return 40 + rank % 40;
}

void forks(int rank) {
  for (int i = 0; i < kForks; ++i) {
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) _exit(getpid() != parent && getppid() == parent ? child_that_writes(rank) : 9);
    EXPECT(child > 0);
    const int code = wait_for(child);
    EXPECT(code == 40 + rank % 40);
  }
}

/// The child's words, and the code that it ends with.
int words_of_child(void (*body)(), std::string& words) {
  int ends[2];
  EXPECT(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    body();
    _exit(0);
  }
  close(ends[1]);
  char text[1000];
  ssize_t bytes = 0;
  while ((bytes = read(ends[0], text, sizeof text)) > 0) words.append(text, static_cast<std::size_t>(bytes));
  close(ends[0]);
  return wait_for(child);
}

void mpi_in_child(int rank) {
  std::string words;
  const int code = words_of_child(
      [] {
        int mine = -1;
        MPI_Comm_rank(MPI_COMM_WORLD, &mine);
      },
      words);
  EXPECT(code == 1);
  const std::string culprit = "rank " + std::to_string(rank) + " has made with fork()";
  EXPECT(words.find(culprit) != std::string::npos);
  EXPECT(words.find("MPI_Comm_rank") != std::string::npos);
}

int at_exit = 0;

void programs() {
  const pid_t exits = fork();
  if (exits == 0) {
    atexit([] { _exit(at_exit); });
    at_exit = 23;
    exit(1);
  }
  EXPECT(wait_for(exits) == 23);

  const pid_t executes = fork();
  if (executes == 0) {
    execl("/bin/sh", "sh", "-c", "exit 3", static_cast<char*>(nullptr));
    _exit(99);
  }
  EXPECT(wait_for(executes) == 3);

  const pid_t fast = vfork();
  if (fast == 0) {
    execl("/bin/sh", "sh", "-c", "exit 4", static_cast<char*>(nullptr));
    _exit(99);
  }
  EXPECT(wait_for(fast) == 4);

  pid_t spawned = -1;
  const char* arguments[] = {"sh", "-c", "exit 5", nullptr};
  EXPECT(posix_spawn(&spawned, "/bin/sh", nullptr, nullptr, const_cast<char**>(arguments), environ) == 0);
  EXPECT(wait_for(spawned) == 5);
  EXPECT(posix_spawnp(&spawned, "sh", nullptr, nullptr, const_cast<char**>(arguments), environ) == 0);
  EXPECT(wait_for(spawned) == 5);

  EXPECT(WEXITSTATUS(system("exit 6")) == 6);
  FILE* pipe = popen("echo word; exit 7", "r");
  char word[16] = {};
  EXPECT(pipe != nullptr && fscanf(pipe, "%15s", word) == 1 && strcmp(word, "word") == 0);
  EXPECT(WEXITSTATUS(pclose(pipe)) == 7);
}

}  // namespace

int main() {
  const int rank = begin_rank();
  std::atomic<bool> stop{false};
  std::thread busy([&] { hammer(stop); });
  MPI_Barrier(MPI_COMM_WORLD);
  forks(rank);
  MPI_Barrier(MPI_COMM_WORLD);
  stop = true;
  busy.join();
  mpi_in_child(rank);
  programs();
  int sum = 0;
  const int one = 1;
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == size);
  MPI_Finalize();
  return failures;
}
