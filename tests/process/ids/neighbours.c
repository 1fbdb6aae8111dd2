// Ranks signal each other by their process ids, as processes do: the handler of that rank runs and no other
// one, and siginfo_t tells which rank has sent it. With an argument: what the default action of the signal
// does to a rank that does not handle it. For: programs in which one rank wakes or stops another one by
// kill(), as checkpointing and steering do; time limits by a rank that watches the others.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>

#include "../signals/check.h"

static volatile sig_atomic_t got[65], total;
static volatile pid_t last_sender;
static volatile int last_code, last_value;
static pid_t* ids;

static void note(int number, siginfo_t* info, void* context) {
  (void)context;
  last_sender = info->si_pid;
  last_code = info->si_code;
  last_value = info->si_value.sival_int;
  total++;
  got[number]++;
}

static void wait_for(int number, int count) {
  for (int i = 0; i < 100000 && got[number] < count; ++i) usleep(1000);
  CHECK(got[number] == count);
}

static void next_one(void) {
  const int next = (rank + 1) % size, previous = (rank + size - 1) % size;
  CHECK(kill(ids[next], 0) == 0);
  CHECK(kill(ids[next], SIGUSR1) == 0);
  wait_for(SIGUSR1, 1);
  CHECK(last_sender == ids[previous] && last_code == SI_USER);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(sigqueue(ids[next], SIGUSR2, (union sigval){.sival_int = 1000 + rank}) == 0);
  wait_for(SIGUSR2, 1);
  CHECK(last_sender == ids[previous] && last_code == SI_QUEUE && last_value == 1000 + previous);
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK(syscall(SYS_kill, ids[next], SIGUSR1) == 0);
  wait_for(SIGUSR1, 2);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// One rank at a time gets signals from all the others: as many as were sent, as they queue.
static void all_to_one(void) {
  enum { kEach = 8 };
  const int queued = SIGRTMIN + 1;
  install_info(queued, note, SA_RESTART);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int to = 0; to < size; ++to) {
    for (int i = 0; i < kEach && rank != to; ++i)
      CHECK(sigqueue(ids[to], queued, (union sigval){.sival_int = i}) == 0);
    if (rank == to) wait_for(queued, kEach * (size - 1));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  CHECK(got[queued] == kEach * (size - 1));
}

/// Blocked, and taken by sigwaitinfo().
static void waited_for(void) {
  sigset_t set;
  siginfo_t info;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  sigprocmask(SIG_BLOCK, &set, NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  const int to = size - 1 - rank;
  CHECK(kill(ids[to], SIGHUP) == 0);
  CHECK(sigwaitinfo(&set, &info) == SIGHUP && info.si_pid == ids[to]);
  MPI_Barrier(MPI_COMM_WORLD);
  sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static void by_descriptor(void) {
  const int next = (rank + 1) % size, before = got[SIGUSR1];
  MPI_Barrier(MPI_COMM_WORLD);
  const int descriptor = (int)syscall(SYS_pidfd_open, getpid(), 0);
  if (descriptor >= 0) {
    CHECK(syscall(SYS_pidfd_send_signal, descriptor, SIGUSR1, NULL, 0) == 0);
    wait_for(SIGUSR1, before + 1);
    close(descriptor);
  } else {
    CHECK(errno == ENOSYS);
  }
  CHECK(kill(ids[next], 0) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
}

/// Who has the lock: in the same process, ranks are told apart.
static void holds_lock(void) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  char path[64];
  snprintf(path, sizeof path, "neighbours.%d.lock", ids[0]);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) CHECK(fcntl(file, F_SETLK, &lock) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) {
    CHECK(fcntl(file, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK);
    CHECK(lock.l_pid == ids[0]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  close(file);
  if (rank == 0) unlink(path);
}

static volatile int arrived;
static void on_io(int number) {
  (void)number;
  arrived++;
}

/// A pipe of rank 1 alone tells it by SIGIO, which would end the others.
static void owns_descriptor(void) {
  if (rank == 1) {
    int ends[2];
    signal(SIGIO, on_io);
    CHECK(pipe(ends) == 0 && fcntl(ends[0], F_SETOWN, getpid()) == 0 && fcntl(ends[0], F_GETOWN) == getpid());
    CHECK(fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK) == 0);
    CHECK(write(ends[1], "x", 1) == 1);
    for (int i = 0; i < 100000 && arrived == 0; ++i) usleep(1000);
    CHECK(arrived > 0);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void end_other(const char* how) {
  if (rank == 1) {
    if (strcmp(how, "kills") == 0) kill(ids[3], SIGKILL);
    if (strcmp(how, "queues") == 0) sigqueue(ids[3], SIGTERM, (union sigval){0});
    if (strcmp(how, "quits") == 0) kill(ids[3], SIGQUIT);
    if (strcmp(how, "before") == 0) kill(ids[0], SIGUSR1);
  }
  for (int i = 0; i < 10000; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    usleep(10000);
  }
}

int main(int argc, char** argv) {
  begin(&argc, &argv);
  ids = malloc((size_t)size * sizeof *ids);
  const pid_t mine = getpid();
  MPI_Allgather(&mine, 1, MPI_INT, ids, 1, MPI_INT, MPI_COMM_WORLD);
  if (argc > 1) {
    end_other(argv[1]);
    return end();
  }
  install_info(SIGUSR1, note, 0);
  install_info(SIGUSR2, note, 0);
  MPI_Barrier(MPI_COMM_WORLD);
  next_one();
  all_to_one();
  waited_for();
  by_descriptor();
  holds_lock();
  owns_descriptor();
  return end();
}
