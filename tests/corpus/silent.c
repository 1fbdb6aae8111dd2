/* Correct programs that look as if their ranks waited for ever, for a while. */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "corpus.h"

enum { kLate = 200000 }; /* microseconds: longer than anything here waits before it says that all sleep */

static char large[kLarge], other_large[kLarge];

static void send_to(int peer) { MPI_Send(&one, 1, MPI_INT, peer, 0, MPI_COMM_WORLD); }
static void receive_from(int peer) { MPI_Recv(&two, 1, MPI_INT, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); }
/* The same with which every case of two ranks ends: rank 1 has waited. */
static void late_message(void) {
  if (rank == 0) send_to(1);
  if (rank == 1) receive_from(0);
}
static double now(void) { return MPI_Wtime(); }

/* CASE late-barrier
 * ranks: 4 */
static void late_barrier(void) {
  if (rank == 2) usleep(kLate);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE late-sender */
static void late_sender(void) {
  if (rank == 0) usleep(kLate);
  late_message();
}

/* CASE late-large-receive */
static void late_large_receive(void) {
  if (rank == 0) MPI_Send(large, kLarge, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
  if (rank == 1) usleep(kLate);
  if (rank == 1) MPI_Recv(other_large, kLarge, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* CASE late-init
 * ranks: 3 */
static void late_init(void) { MPI_Barrier(MPI_COMM_WORLD); }

/* CASE late-finalize
 * ranks: 3 */
static void late_finalize(void) {
  if (rank == 1) sleep(1);
}

/* CASE late-split
 * ranks: 3 */
static void late_split(void) {
  MPI_Comm part;
  if (rank == 1) usleep(kLate);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &part);
  MPI_Comm_free(&part);
}

/* CASE late-nonblocking-collective
 * ranks: 3 */
static void late_nonblocking_collective(void) {
  MPI_Request request;
  if (rank == 2) usleep(kLate);
  MPI_Iallreduce(&one, &two, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* CASE late-persistent */
static void late_persistent(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Send_init(large, kLarge, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
  else
    MPI_Recv_init(other_large, kLarge, MPI_CHAR, 0, 2, MPI_COMM_WORLD, &request);
  for (int i = 0; i < 2; ++i) {
    if (rank == i) usleep(kLate);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&request);
}

/* CASE late-partition */
static void late_partition(void) {
  MPI_Request request;
  if (rank == 0)
    MPI_Psend_init(large, 2, 8, MPI_CHAR, 1, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  else
    MPI_Precv_init(other_large, 2, 8, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  MPI_Start(&request);
  for (int i = 0; i < 2 && rank == 0; ++i) {
    usleep(kLate / 2);
    MPI_Pready(i, request);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Request_free(&request);
}

/* CASE late-receive-of-bsend */
static void late_receive_of_bsend(void) {
  static char buffer[kLarge + 1000];
  void* had;
  int bytes;
  if (rank == 0) {
    MPI_Buffer_attach(buffer, sizeof buffer);
    MPI_Bsend(large, kLarge, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    MPI_Buffer_detach(&had, &bytes);
  } else {
    usleep(kLate);
    MPI_Recv(other_large, kLarge, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

/* CASE late-probe */
static void late_probe(void) {
  if (rank == 0) usleep(kLate);
  if (rank == 1) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  late_message();
}

/* CASE late-waitany
 * ranks: 3 */
static void late_waitany(void) {
  MPI_Request requests[2];
  if (rank != 0) {
    usleep(rank * kLate / 2);
    return send_to(0);
  }
  MPI_Irecv(&one, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&two, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, &requests[1]);
  for (int i = 0, index; i < 2; ++i) MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

/* CASE late-intercommunicator */
static void late_intercommunicator(void) {
  MPI_Comm inter;
  if (rank == 0) usleep(kLate);
  MPI_Intercomm_create(MPI_COMM_SELF, 0, MPI_COMM_WORLD, 1 - rank, 5, &inter);
  if (rank == 0) usleep(kLate);
  MPI_Barrier(inter);
  MPI_Comm_free(&inter);
}

/* CASE polls-with-test */
static void polls_with_test(void) {
  MPI_Request request;
  int done = 0;
  if (rank == 0) usleep(kLate);
  if (rank == 0) return send_to(1);
  MPI_Irecv(&two, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
  while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
}

/* CASE polls-and-sleeps */
static void polls_and_sleeps(void) {
  int found = 0;
  if (rank == 0) usleep(kLate);
  while (rank == 1 && !found) {
    MPI_Iprobe(0, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    usleep(1000);
  }
  late_message();
}

/* CASE both-poll-for-a-while
 * options: --hang-after 3 */
static void both_poll_for_a_while(void) {
  int found = 0;
  for (const double begin = now(); now() - begin < 1.2;)
    MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
  late_message();
}

/* CASE computes-for-long
 * ranks: 3
 * options: --hang-after 1 */
static void computes_for_long(void) {
  volatile double sum = 0;
  if (rank == 0)
    for (const double begin = now(); now() - begin < 3;)
      for (int i = 0; i < 100000; ++i) sum += i;
  MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE sleeps-for-long
 * options: --hang-after 1 */
static void sleeps_for_long(void) {
  if (rank == 0) sleep(2);
  late_message();
}

static atomic_int flag;
static void* set_flag(void* unused) {
  usleep(kLate);
  atomic_store(&flag, 1);
  return unused;
}

/* CASE spins-on-an-atomic */
static void spins_on_an_atomic(void) {
  pthread_t thread;
  if (rank == 0) {
    pthread_create(&thread, NULL, set_flag, NULL);
    while (!atomic_load(&flag)) {
    }
    pthread_join(thread, NULL);
  }
  late_message();
}

static int ends[2];
static void* read_pipe(void* unused) {
  char byte;
  if (read(ends[0], &byte, 1) != 1) abort();
  send_to(1);
  return unused;
}
static void* write_pipe(void* unused) {
  usleep(kLate);
  if (write(ends[1], "x", 1) != 1) abort();
  return unused;
}

/* CASE thread-reads-a-pipe */
static void thread_reads_a_pipe(void) {
  pthread_t reader, writer;
  if (rank == 1) return receive_from(0);
  if (pipe(ends) != 0) abort();
  pthread_create(&reader, NULL, read_pipe, NULL);
  pthread_create(&writer, NULL, write_pipe, NULL);
  pthread_join(reader, NULL);
  pthread_join(writer, NULL);
}

/* CASE main-waits-beside-a-thread-on-a-pipe */
static void main_waits_beside_a_thread_on_a_pipe(void) {
  pthread_t reader, writer;
  if (rank == 1) {
    receive_from(0);
    return send_to(0);
  }
  if (pipe(ends) != 0) abort();
  pthread_create(&writer, NULL, write_pipe, NULL);
  pthread_create(&reader, NULL, read_pipe, NULL);
  receive_from(1);
  pthread_join(reader, NULL);
  pthread_join(writer, NULL);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int told;
static void* tell(void* unused) {
  usleep(kLate);
  pthread_mutex_lock(&mutex);
  told = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
  return unused;
}

/* CASE condition-variable */
static void condition_variable(void) {
  pthread_t thread;
  if (rank == 0) {
    pthread_create(&thread, NULL, tell, NULL);
    pthread_mutex_lock(&mutex);
    while (!told) pthread_cond_wait(&condition, &mutex);
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
  }
  late_message();
}

static void* send_late(void* unused) {
  usleep(kLate);
  send_to(rank);
  return unused;
}

/* CASE thread-sends-to-its-own-rank
 * ranks: 3 */
static void thread_sends_to_its_own_rank(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, send_late, NULL);
  receive_from(rank);
  pthread_join(thread, NULL);
}

/* CASE reads-stdin
 * stdin: a line that comes late */
static void reads_stdin(void) {
  char line[64];
  if (rank == 0 && fgets(line, sizeof line, stdin) == NULL) abort();
  late_message();
}

/* CASE fork-and-wait */
static void fork_and_wait(void) {
  if (rank == 0) {
    const pid_t child = fork();
    if (child == 0) {
      usleep(kLate);
      _exit(0);
    }
    waitpid(child, NULL, 0);
  }
  late_message();
}

/* CASE system */
static void calls_system(void) {
  if (rank == 0 && system("sleep 0.2") != 0) abort();
  late_message();
}

/* CASE popen */
static void calls_popen(void) {
  if (rank == 0) {
    char line[16];
    FILE* const output = popen("sleep 0.2; echo x", "r");
    if (output == NULL || fgets(line, sizeof line, output) == NULL) abort();
    pclose(output);
  }
  late_message();
}

static volatile sig_atomic_t rang;
static void ring(int number) { rang = number; }

/* CASE waits-for-a-signal */
static void waits_for_a_signal(void) {
  if (rank == 0) {
    signal(SIGALRM, ring);
    ualarm(kLate, 0);
    while (!rang) usleep(5000);
  }
  late_message();
}

/* CASE interval-timer-beside-a-wait */
static void interval_timer_beside_a_wait(void) {
  const struct itimerval often = {{0, 10000}, {0, 10000}}, never = {{0, 0}, {0, 0}};
  signal(SIGALRM, ring);
  if (rank == 1) setitimer(ITIMER_REAL, &often, NULL);
  if (rank == 0)
    for (const double begin = now(); now() - begin < kLate / 1e6;) usleep(1000);
  late_message();
  setitimer(ITIMER_REAL, &never, NULL);
}

/* CASE poll-with-a-timeout */
static void poll_with_a_timeout(void) {
  if (rank == 0)
    while (poll(NULL, 0, kLate / 1000) != 0 && errno == EINTR) {
    }
  late_message();
}

/* CASE semaphore-with-a-timeout */
static void semaphore_with_a_timeout(void) {
  if (rank == 0) {
    sem_t never;
    struct timespec end;
    sem_init(&never, 0, 0);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_nsec += kLate * 1000;
    if (end.tv_nsec >= 1000000000) end.tv_nsec -= 1000000000, ++end.tv_sec;
    while (sem_timedwait(&never, &end) != 0 && errno == EINTR) {
    }
  }
  late_message();
}

/* CASE relay-of-sleepers
 * ranks: 6 */
static void relay_of_sleepers(void) {
  if (rank > 0) receive_from(rank - 1);
  usleep(kLate / 2);
  if (rank < size - 1) send_to(rank + 1);
}

/* CASE many-messages
 * ranks: 4 */
static void many_messages(void) {
  for (int i = 0; i < 20000; ++i) {
    MPI_Request both[2];
    MPI_Irecv(&two, 1, MPI_INT, (rank + 1) % size, i % 7, MPI_COMM_WORLD, &both[0]);
    MPI_Isend(&one, 1, MPI_INT, (rank + size - 1) % size, i % 7, MPI_COMM_WORLD, &both[1]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  }
}

/* CASE slow-ring
 * ranks: 5 */
static void slow_ring(void) {
  for (int i = 0; i < 12; ++i) {
    if (rank == 0) usleep(60000), send_to(1);
    receive_from((rank + size - 1) % size);
    if (rank != 0) send_to((rank + 1) % size);
  }
}

/* CASE thousands-of-ranks
 * ranks: 2000
 * modes: fibers hosts-fibers */
static void thousands_of_ranks(void) {
  if (rank == 0) usleep(kLate);
  if (rank > 0) receive_from(rank - 1);
  if (rank < size - 1) send_to(rank + 1);
  MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE cancels */
static void cancels(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Irecv(&two, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, &request);
    usleep(kLate);
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* CASE ends-with-a-message-that-nobody-receives
 * ranks: 3
 * unchecked: the message is left */
static void ends_with_a_message_that_nobody_receives(void) {
  if (rank == 0) send_to(1);
  if (rank == 2) usleep(kLate);
}

static void sleep_before(const char* name) {
  if (strcmp(name, "late-init") == 0 && getpid() % 2 == 0) usleep(kLate);
}

int main(int argc, char** argv) {
  static const struct Case cases[] = {
      {"late-barrier", late_barrier},
      {"late-sender", late_sender},
      {"late-large-receive", late_large_receive},
      {"late-init", late_init},
      {"late-finalize", late_finalize},
      {"late-split", late_split},
      {"late-nonblocking-collective", late_nonblocking_collective},
      {"late-persistent", late_persistent},
      {"late-partition", late_partition},
      {"late-receive-of-bsend", late_receive_of_bsend},
      {"late-probe", late_probe},
      {"late-waitany", late_waitany},
      {"late-intercommunicator", late_intercommunicator},
      {"polls-with-test", polls_with_test},
      {"polls-and-sleeps", polls_and_sleeps},
      {"both-poll-for-a-while", both_poll_for_a_while},
      {"computes-for-long", computes_for_long},
      {"sleeps-for-long", sleeps_for_long},
      {"spins-on-an-atomic", spins_on_an_atomic},
      {"thread-reads-a-pipe", thread_reads_a_pipe},
      {"main-waits-beside-a-thread-on-a-pipe", main_waits_beside_a_thread_on_a_pipe},
      {"condition-variable", condition_variable},
      {"thread-sends-to-its-own-rank", thread_sends_to_its_own_rank},
      {"reads-stdin", reads_stdin},
      {"fork-and-wait", fork_and_wait},
      {"system", calls_system},
      {"popen", calls_popen},
      {"waits-for-a-signal", waits_for_a_signal},
      {"interval-timer-beside-a-wait", interval_timer_beside_a_wait},
      {"poll-with-a-timeout", poll_with_a_timeout},
      {"semaphore-with-a-timeout", semaphore_with_a_timeout},
      {"relay-of-sleepers", relay_of_sleepers},
      {"many-messages", many_messages},
      {"slow-ring", slow_ring},
      {"thousands-of-ranks", thousands_of_ranks},
      {"cancels", cancels},
      {"ends-with-a-message-that-nobody-receives", ends_with_a_message_that_nobody_receives},
      {NULL, NULL},
  };
  return run_case(argc, argv, cases, sleep_before);
}
