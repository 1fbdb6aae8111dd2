// Every rank has a working directory, a file mode mask and a signal mask of its own, whatever the others do
// and whichever kernel thread runs it.
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "expect.h"
#include "rank.h"

namespace {

int rank = -1;

/// Lets others run here, and perhaps moves to another kernel thread.
void wander() {
  for (int i = 0; i < 3; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    sched_yield();
    usleep(200);
  }
}

std::string directory() {
  char path[4096];
  return getcwd(path, sizeof path) != nullptr ? path : "?";
}

mode_t mask() {
  const mode_t now = umask(0);
  umask(now);
  return now;
}

bool blocked(int signal) {
  sigset_t set;
  EXPECT(sigprocmask(SIG_BLOCK, nullptr, &set) == 0);
  unsigned long kernels = 0;
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &kernels, sizeof kernels);
  EXPECT((sigismember(&set, signal) == 1) == ((kernels >> (signal - 1) & 1) != 0));
  return sigismember(&set, signal) == 1;
}

int descriptors() {
  int count = 0;
  DIR* listing = opendir("/proc/self/fd");
  while (readdir(listing) != nullptr) ++count;
  closedir(listing);
  return count;
}

void directories(const std::string& mine) {
  EXPECT(chdir(mine.c_str()) == 0);
  wander();
  EXPECT(directory() == mine);
  const int file = open("here", O_CREAT | O_WRONLY | O_TRUNC, 0600);
  EXPECT(file >= 0);
  close(file);
  wander();
  EXPECT(access((mine + "/here").c_str(), F_OK) == 0);

  EXPECT(chdir("nowhere") == -1 && errno == ENOENT);
  EXPECT(chdir("here") == -1 && errno == ENOTDIR);
  EXPECT(fchdir(-1) == -1 && errno == EBADF);
  EXPECT(fchdir(STDIN_FILENO) == -1 && errno == ENOTDIR);
  EXPECT(directory() == mine);

  EXPECT(mkdir("below", 0700) == 0);
  const int below = open("below", O_RDONLY | O_DIRECTORY);
  EXPECT(fchdir(below) == 0);
  close(below);
  wander();
  EXPECT(directory() == mine + "/below");
  // Renamed under our feet: the directory is what counts, not its name.
  EXPECT(rename("../below", "../renamed") == 0);
  wander();
  EXPECT(directory() == mine + "/renamed");
  EXPECT(chdir("..") == 0);
  std::string theirs;
  std::thread([&] { theirs = directory(); }).join();
  EXPECT(theirs == mine);
  unlink("here");
  rmdir("renamed");
}

/// More often than there are descriptors.
void many_directories(const std::string& mine) {
  MPI_Barrier(MPI_COMM_WORLD);
  const int before = descriptors();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 10000; ++i) {
    EXPECT(chdir(i % 2 == 0 ? "/" : mine.c_str()) == 0);
    if (i % 100 == 0) sched_yield();
  }
  wander();
  EXPECT(directory() == mine);
  EXPECT(descriptors() <= before + 64);
}

void masks() {
  const mode_t mine = static_cast<mode_t>(rank & 7) << 3 | 07;
  const mode_t before = umask(mine);
  wander();
  EXPECT(mask() == mine);
  const int file = open("modes", O_CREAT | O_WRONLY, 0666);
  struct stat info {};
  EXPECT(fstat(file, &info) == 0 && (info.st_mode & 0777) == (0666 & ~mine));
  close(file);
  unlink("modes");
  umask(before);
  wander();
  EXPECT(mask() == before);
}

volatile sig_atomic_t handled = 0;
void count(int) { handled = handled + 1; }

void signals() {
  sigset_t mine, before;
  sigemptyset(&mine);
  sigaddset(&mine, SIGUSR2);
  if (rank % 2 == 1) sigaddset(&mine, SIGUSR1);
  EXPECT(pthread_sigmask(SIG_BLOCK, &mine, &before) == 0);
  wander();
  EXPECT(blocked(SIGUSR2));
  EXPECT(blocked(SIGUSR1) == (rank % 2 == 1));

  signal(SIGUSR2, count);
  MPI_Barrier(MPI_COMM_WORLD);
  raise(SIGUSR2);
  EXPECT(handled == 0);
  wander();
  EXPECT(pthread_sigmask(SIG_UNBLOCK, &mine, nullptr) == 0);
  EXPECT(handled == 1);
  wander();
  EXPECT(!blocked(SIGUSR2) && !blocked(SIGUSR1));

  sigjmp_buf place;
  volatile int jumps = 0;
  if (sigsetjmp(place, 1) == 0) {
    EXPECT(pthread_sigmask(SIG_BLOCK, &mine, nullptr) == 0);
    wander();
    EXPECT(blocked(SIGUSR2));
    jumps = 1;
    siglongjmp(place, 1);
  }
  EXPECT(jumps == 1);
  EXPECT(!blocked(SIGUSR2));
  wander();
  EXPECT(!blocked(SIGUSR2));

  EXPECT(sigprocmask(99, &mine, nullptr) == -1 && errno == EINVAL);
  EXPECT(pthread_sigmask(99, &mine, nullptr) == EINVAL);
  EXPECT(sigprocmask(SIG_SETMASK, &before, nullptr) == 0);
}

}  // namespace

int main() {
  rank = begin_rank();
  const std::string origin = directory();
  char name[] = "/tmp/clump-state-XXXXXX";
  EXPECT(mkdtemp(name) != nullptr);
  const mode_t first_mask = mask();
  const pid_t thread = gettid();
  directories(name);
  many_directories(name);
  masks();
  signals();
  EXPECT(gettid() == thread);
  EXPECT(chdir(origin.c_str()) == 0);
  EXPECT(rmdir(name) == 0);
  wander();
  EXPECT(directory() == origin);
  EXPECT(mask() == first_mask);
  MPI_Finalize();
  return failures;
}
