// What wakes a thread from outside: how it is made, how a thread waits for it, and who does it after a time.
// For woken.c alone.
#pragma once

/// So long nothing happens: several times what it takes until a deadlock is told.
static const struct timespec kDelay = {2, 500000000};

struct Source {
  const char* name;
  void (*prepare)(void);  ///< by the main thread; may be null
  void (*wait)(void);     ///< by another one; null: what wakes is itself a thread, which sends the message
};

static void delay(void) {
  struct timespec left = kDelay;
  while (nanosleep(&left, &left) != 0 && errno == EINTR) {
  }
}

/// Calls `first`, and after the delay `act`, in a process that is no child of this one. `first` may be null.
static void leave_to_another(void (*first)(void), void (*act)(void)) {
  const pid_t between = fork();
  if (between == 0) {
    if (fork() == 0) {
      if (first != NULL) first();
      delay();
      act();
    }
    _exit(0);
  }
  while (waitpid(between, NULL, 0) < 0 && errno == EINTR) {
  }
}

// Semaphores that a handler posts.

static sem_t posted;
static void post(int signal) {
  (void)signal;
  sem_post(&posted);
}
static void wait_for_post(void) {
  while (sem_wait(&posted) != 0 && errno == EINTR) {
  }
}
static void post_at(int signal) {
  sem_init(&posted, 0, 0);
  struct sigaction action = {.sa_handler = post};
  sigaction(signal, &action, NULL);
}

// Signals from another process.

static pid_t target;
static void send_signal(void) { kill(target, SIGUSR1); }
static void be_signalled(void) {
  target = (pid_t)syscall(SYS_getpid);
  leave_to_another(NULL, send_signal);
}
static void prepare_handler(void) {
  post_at(SIGUSR1);
  be_signalled();
}
static int ends[2];
static void write_end(int signal) {
  (void)signal;
  if (write(ends[1], "1", 1) != 1) _exit(3);
}
static void write_end_now(void) { write_end(0); }
static void read_end(void) {
  char byte;
  while (read(ends[0], &byte, 1) < 0 && errno == EINTR) {
  }
}
static void prepare_self_pipe(void) {
  if (pipe(ends) != 0) exit(2);
  struct sigaction action = {.sa_handler = write_end};
  sigaction(SIGUSR1, &action, NULL);
  be_signalled();
}
static sigset_t usr1(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  return set;
}
static void block_and_be_signalled(void) {
  const sigset_t set = usr1();
  signal(SIGUSR1, SIG_DFL);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
  be_signalled();
}
static void wait_for_signal(void) {
  const sigset_t set = usr1();
  int number;
  sigwait(&set, &number);
}

// Timers. They send a signal that only timers send: a handler of another one is reason enough to wait.

static void prepare_alarm(void) {
  post_at(SIGALRM);
  alarm(3);
}
static void prepare_itimer(void) {
  post_at(SIGALRM);
  const struct itimerval once = {{0, 0}, {kDelay.tv_sec, kDelay.tv_nsec / 1000}};
  setitimer(ITIMER_REAL, &once, NULL);
}
static void set_timer(struct sigevent event) {
  timer_t timer;
  const struct itimerspec once = {{0, 0}, kDelay};
  if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0 || timer_settime(timer, 0, &once, NULL) != 0)
    exit(2);
}
static void prepare_timer_signal(void) {
  post_at(SIGALRM);
  set_timer((struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM});
}
static void prepare_timer_thread_id(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGALRM};
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  post_at(SIGALRM);
  set_timer(event);
}
static void send_to_main(union sigval unused) {
  (void)unused;
  MPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
}
static void prepare_timer_thread(void) {
  set_timer((struct sigevent){.sigev_notify = SIGEV_THREAD, .sigev_notify_function = send_to_main});
}
static timer_t again;
static void set_again(union sigval unused) {
  static int times = 0;
  const struct itimerspec once = {{0, 0}, {kDelay.tv_sec / 2, 0}};
  if (++times < 3)
    timer_settime(again, 0, &once, NULL);
  else
    send_to_main(unused);
}
static void prepare_timer_again(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = set_again};
  timer_create(CLOCK_MONOTONIC, &event, &again);
  const struct itimerspec once = {{0, 0}, {kDelay.tv_sec / 2, 0}};
  timer_settime(again, 0, &once, NULL);
}
/// A timer of the processor time of another process, which uses some after the delay.
static void use_time(void) {
  const clock_t begin = clock();
  while (clock() - begin < CLOCKS_PER_SEC / 5) {
  }
}
static void tell_number(void) {
  const pid_t own = (pid_t)syscall(SYS_getpid);
  if (write(ends[1], &own, sizeof own) != sizeof own) _exit(3);
}
static void prepare_timer_of_other(void) {
  pid_t other = 0;
  clockid_t clock;
  timer_t timer;
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
  const struct itimerspec once = {{0, 0}, {0, 100000000}};
  post_at(SIGALRM);
  if (pipe(ends) != 0) exit(2);
  leave_to_another(tell_number, use_time);
  if (read(ends[0], &other, sizeof other) != sizeof other || clock_getcpuclockid(other, &clock) != 0 ||
      timer_create(clock, &event, &timer) != 0 || timer_settime(timer, 0, &once, NULL) != 0)
    exit(2);
}
static int descriptor;
static void prepare_timerfd(void) {
  const struct itimerspec once = {{0, 0}, kDelay};
  descriptor = timerfd_create(CLOCK_MONOTONIC, 0);
  timerfd_settime(descriptor, 0, &once, NULL);
}
static void read_number(void) {
  char room[512];
  while (read(descriptor, room, sizeof room) < 0 && errno == EINTR) {
  }
}
static void wait_with_limit(void) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 3;
  while (sem_timedwait(&posted, &limit) != 0 && errno == EINTR) {
  }
}
static void prepare_semaphore(void) { sem_init(&posted, 0, 0); }

// Children.

static pid_t child;
static void make_child(void) {
  child = fork();
  if (child != 0) return;
  delay();
  _exit(0);
}
static void wait_for_child(void) {
  while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
  }
}
static void prepare_child_handler(void) {
  post_at(SIGCHLD);
  make_child();
}

// Descriptors.

static void prepare_pipe(void) {
  if (pipe(ends) != 0) exit(2);
  leave_to_another(NULL, write_end_now);
}
static void prepare_socket(void) {
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) exit(2);
  leave_to_another(NULL, write_end_now);
}
static void wait_by_poll(void) {
  struct pollfd one = {ends[0], POLLIN, 0};
  while (poll(&one, 1, -1) < 0 && errno == EINTR) {
  }
}
static void wait_by_select(void) {
  fd_set set;
  do {
    FD_ZERO(&set);
    FD_SET(ends[0], &set);
  } while (select(ends[0] + 1, &set, NULL, NULL, NULL) < 0 && errno == EINTR);
}
static void wait_by_epoll(void) {
  const int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  epoll_ctl(epoll, EPOLL_CTL_ADD, ends[0], &event);
  while (epoll_wait(epoll, &event, 1, -1) < 0 && errno == EINTR) {
  }
}
static void write_eight(void) {
  const unsigned long one = 1;
  if (write(descriptor, &one, sizeof one) != sizeof one) _exit(3);
}
static void prepare_eventfd(void) {
  descriptor = eventfd(0, 0);
  leave_to_another(NULL, write_eight);
}
static char file[] = "woken.XXXXXX";
static void touch(void) {
  if (truncate(file, 1) != 0) _exit(3);
}
static void prepare_inotify(void) {
  close(mkstemp(file));
  descriptor = inotify_init1(0);
  inotify_add_watch(descriptor, file, IN_MODIFY);
  leave_to_another(NULL, touch);
}
static void wait_and_remove(void) {
  read_number();
  unlink(file);
}
static void release(void) {}  // the process ends
static void prepare_flock(void) {
  const int theirs = mkstemp(file);
  flock(theirs, LOCK_EX);
  descriptor = open(file, O_RDWR);
  leave_to_another(NULL, release);
  close(theirs);
}
static void wait_for_lock(void) {
  while (flock(descriptor, LOCK_EX) != 0 && errno == EINTR) {
  }
  unlink(file);
}

// Shared memory, and queues of the system.

struct Shared {
  sem_t semaphore;
  pthread_mutex_t mutex;
  pthread_cond_t condition;
  int set;
};
static struct Shared* shared;
static void make_shared(void) {
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  sem_init(&shared->semaphore, 1, 0);
  pthread_mutexattr_t mutex;
  pthread_condattr_t condition;
  pthread_mutexattr_init(&mutex);
  pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
  pthread_mutex_init(&shared->mutex, &mutex);
  pthread_condattr_init(&condition);
  pthread_condattr_setpshared(&condition, PTHREAD_PROCESS_SHARED);
  pthread_cond_init(&shared->condition, &condition);
}
static void post_shared(void) { sem_post(&shared->semaphore); }
static void prepare_shared_semaphore(void) {
  make_shared();
  leave_to_another(NULL, post_shared);
}
static void wait_for_shared(void) {
  while (sem_wait(&shared->semaphore) != 0 && errno == EINTR) {
  }
}
static void signal_shared(void) {
  pthread_mutex_lock(&shared->mutex);
  shared->set = 1;
  pthread_cond_signal(&shared->condition);
  pthread_mutex_unlock(&shared->mutex);
}
static void prepare_shared_condition(void) {
  make_shared();
  leave_to_another(NULL, signal_shared);
}
static void wait_for_condition(void) {
  pthread_mutex_lock(&shared->mutex);
  while (!shared->set) pthread_cond_wait(&shared->condition, &shared->mutex);
  pthread_mutex_unlock(&shared->mutex);
}
static void wake_futex(void) {
  __atomic_store_n(&shared->set, 1, __ATOMIC_SEQ_CST);
  syscall(SYS_futex, &shared->set, FUTEX_WAKE, 1, NULL, NULL, 0);
}
static void prepare_futex(void) {
  make_shared();
  leave_to_another(NULL, wake_futex);
}
static void wait_for_futex(void) {
  while (__atomic_load_n(&shared->set, __ATOMIC_SEQ_CST) == 0)
    syscall(SYS_futex, &shared->set, FUTEX_WAIT, 0, NULL, NULL, 0);
}
static int queue;
static void remove_queue(void) { msgctl(queue, IPC_RMID, NULL); }
static void prepare_queue(void) {
  queue = msgget(IPC_PRIVATE, 0600);
  leave_to_another(NULL, remove_queue);
}
static void wait_for_message(void) {
  struct {
    long type;
    char text[8];
  } message;
  while (msgrcv(queue, &message, sizeof message.text, 0, 0) < 0 && errno == EINTR) {
  }
}
// Another thread that goes on by itself.

static pthread_barrier_t met;
static void* come_late(void* unused) {
  delay();
  pthread_barrier_wait(&met);
  return unused;
}
static void prepare_chain(void) {
  pthread_t thread;
  pthread_barrier_init(&met, NULL, 2);
  pthread_create(&thread, NULL, come_late, NULL);
  pthread_detach(thread);
}
static void wait_in_barrier(void) { pthread_barrier_wait(&met); }

static const struct Source kSources[] = {
    {"handler", prepare_handler, wait_for_post},
    {"self_pipe", prepare_self_pipe, read_end},
    {"sigwait", block_and_be_signalled, wait_for_signal},
    {"alarm", prepare_alarm, wait_for_post},
    {"itimer", prepare_itimer, wait_for_post},
    {"timer_signal", prepare_timer_signal, wait_for_post},
    {"timer_thread_id", prepare_timer_thread_id, wait_for_post},
    {"timer_thread", prepare_timer_thread, NULL},
    {"timer_again", prepare_timer_again, NULL},
    {"timer_of_other", prepare_timer_of_other, wait_for_post},
    {"timerfd", prepare_timerfd, read_number},
    {"limit", prepare_semaphore, wait_with_limit},
    {"sleep", NULL, delay},
    {"child", make_child, wait_for_child},
    {"child_handler", prepare_child_handler, wait_for_post},
    {"pipe", prepare_pipe, read_end},
    {"socket", prepare_socket, read_end},
    {"poll", prepare_pipe, wait_by_poll},
    {"select", prepare_pipe, wait_by_select},
    {"epoll", prepare_pipe, wait_by_epoll},
    {"eventfd", prepare_eventfd, read_number},
    {"inotify", prepare_inotify, wait_and_remove},
    {"flock", prepare_flock, wait_for_lock},
    {"shared_semaphore", prepare_shared_semaphore, wait_for_shared},
    {"shared_condition", prepare_shared_condition, wait_for_condition},
    {"shared_futex", prepare_futex, wait_for_futex},
    {"message_queue", prepare_queue, wait_for_message},
    {"chain", prepare_chain, wait_in_barrier},
};

static const struct Source* find_source(const char* name) {
  for (size_t i = 0; i < sizeof kSources / sizeof kSources[0]; ++i)
    if (strcmp(kSources[i].name, name) == 0) return &kSources[i];
  return NULL;
}
