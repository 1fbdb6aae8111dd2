/* Part beside: what a second thread of a rank does beside the first, which waits, or computes without MPI. A
   step has one of: sends that are cancelled while the second threads poll; a reduction with a function of the
   program that the second thread begins while the first sleeps in MPI_Recv; two threads that wait for locks
   of two targets; a request that one thread begins and the other completes; a signal for a thread that waits;
   a sender that computes while its message is taken. */
#include <signal.h>
#include <stdatomic.h>

#include "comms.h"
#include "data.h"

enum { kCancels, kReduction, kTwoLocks, kHandedOver, kSignal, kComputes, kFlood, kKinds };
static const char* const kNames[] = {"cancelled sends",
                                     "a reduction that a second thread begins",
                                     "two locks",
                                     "requests handed over",
                                     "a signal while waiting",
                                     "a sender that computes",
                                     "more messages than a rank takes"};
enum { kPatience = 5 }; /* seconds, for what takes milliseconds */
static MPI_Comm comm, polled, third;
static MPI_Win locks, flags;
static volatile int* taken[kMostRanks]; /* in the window flags: the rank has received in this step */
static atomic_int stop;

/* --- cancelled sends: ranks 2i send to ranks 2i + 1, the second threads of both poll --- */
enum { kSends = 64 };
static char sent[kSends][70000], received[70000];
static void poll(void) {
  int found = 0;
  while (!atomic_load(&stop)) MPI_Iprobe(MPI_ANY_SOURCE, 77, polled, &found, MPI_STATUS_IGNORE);
}
static int bytes_of_send(int i) {
  Random shape = plan_of(fuzz_step, 999), random = plan_of(fuzz_step, 1000 + i);
  if (chance(&shape, 60)) return between(&shape, 30000, 64000); /* all alike, copied in pieces */
  return chance(&random, 70) ? between(&random, 500, 66000) : between(&random, 0, 600);
}
static void cancel_some(int rounds, int count, int to) {
  MPI_Request requests[kSends];
  char kept[kSends];
  Random own = own_of(fuzz_step, 2);

  for (int round = 0; round < rounds; round++) {
    for (int i = 0; i < count; i++) MPI_Isend(sent[i], bytes_of_send(i), MPI_BYTE, to, 5, comm, &requests[i]);
    for (volatile int i = below(&own, 2) ? below(&own, 20000) : 0; i > 0; i--)
      ; /* so that some are on their way */
    for (int i = 0; i < count; i++) MPI_Cancel(&requests[i]);
    for (int i = 0; i < count; i++) {
      MPI_Status status;
      int cancelled = 0;
      MPI_Wait(&requests[i], &status);
      MPI_Test_cancelled(&status, &cancelled);
      kept[i] = !cancelled;
    }
    MPI_Sendrecv(kept, count, MPI_CHAR, to, 6, NULL, 0, MPI_CHAR, to, 7, comm, MPI_STATUS_IGNORE);
  }
}
static void take_the_others(int rounds, int count, int from) {
  char kept[kSends];
  for (int round = 0; round < rounds; round++) {
    MPI_Recv(kept, count, MPI_CHAR, from, 6, comm, MPI_STATUS_IGNORE);
    const double begin = MPI_Wtime();
    for (int i = 0; i < count; i++) {
      MPI_Status status;
      int found = 0, bytes = 0;
      if (!kept[i]) continue;
      while (!found) {
        MPI_Iprobe(from, 5, comm, &found, &status);
        CHECK(found || MPI_Wtime() - begin < kPatience, "send %d of %d was not cancelled, and does not come",
              i, count);
      }
      MPI_Recv(received, sizeof received, MPI_BYTE, from, 5, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      CHECK(bytes == bytes_of_send(i), "send %d of %d was not cancelled, and %d bytes come, not %d", i, count,
            bytes, bytes_of_send(i));
      CHECK(!memcmp(sent[i], received, (size_t)bytes), "send %d of %d brings wrong data", i, count);
    }
    int more = 0;
    MPI_Iprobe(from, 5, comm, &more, MPI_STATUS_IGNORE);
    CHECK(!more, "a cancelled send comes");
    MPI_Send(NULL, 0, MPI_CHAR, from, 7, comm);
  }
}
static void cancels(int thread, void* data) {
  Random random = plan_of(fuzz_step, 1);
  const int few = chance(&random, 40), count = few ? between(&random, 1, 8) : between(&random, 20, kSends),
            rounds = between(&random, 1, few ? 200 : 30), peer = fuzz.rank ^ 1;
  (void)data;
  if (thread == 1) {
    poll();
    return;
  }
  for (int i = 0; i < count; i++) fill(sent[i], (size_t)bytes_of_send(i), (uint64_t)i);
  if (peer < fuzz.size && fuzz.rank % 2 == 0) cancel_some(rounds, count, peer);
  if (peer < fuzz.size && fuzz.rank % 2 == 1) take_the_others(rounds, count, peer);
  atomic_store(&stop, 1);
}

/* --- a reduction: the second thread of one rank begins it, while the first sleeps --- */
static void affine(void* in, void* inout, int* count, MPI_Datatype* type) {
  unsigned *x = in, *y = inout;
  (void)type;
  for (int i = 0; i < 2 * *count; i += 2) {
    y[i + 1] = x[i] * y[i + 1] + x[i + 1];
    y[i] *= x[i];
  }
}
static struct {
  MPI_Request request;
  MPI_Op op;
  MPI_Datatype type;
  unsigned in[2], out[2];
} reduction;
static void begin_reduction(void) {
  reduction.in[0] = 2 * (unsigned)fuzz.rank + 3;
  reduction.in[1] = (unsigned)fuzz.rank + 1;
  MPI_Op_create(affine, 0, &reduction.op);
  MPI_Type_contiguous(2, MPI_UNSIGNED, &reduction.type);
  MPI_Type_commit(&reduction.type);
  MPI_Iallreduce(reduction.in, reduction.out, 1, reduction.type, reduction.op, third, &reduction.request);
  MPI_Type_free(&reduction.type);
  MPI_Op_free(&reduction.op);
}
static void end_reduction(void) {
  unsigned a = 1, b = 0;
  MPI_Wait(&reduction.request, MPI_STATUS_IGNORE);
  for (unsigned i = (unsigned)fuzz.size; i-- > 0;) {
    b = (2 * i + 3) * b + i + 1;
    a *= 2 * i + 3;
  }
  CHECK(reduction.out[0] == a && reduction.out[1] == b, "the reduction gives %u, %u, not %u, %u",
        reduction.out[0], reduction.out[1], a, b);
}
static void reduces(int thread, void* data) {
  const int first = *(int*)data;
  if (fuzz.rank != first) {
    MPI_Recv(NULL, 0, MPI_CHAR, first, 8, polled, MPI_STATUS_IGNORE);
    usleep(5000); /* so that the second thread of that rank has ended */
    begin_reduction();
    end_reduction();
    MPI_Send(NULL, 0, MPI_CHAR, first, 9, comm);
  } else if (thread == 0) {
    for (int i = 1; i < fuzz.size; i++)
      MPI_Recv(NULL, 0, MPI_CHAR, MPI_ANY_SOURCE, 9, comm, MPI_STATUS_IGNORE);
  } else {
    usleep(3000); /* so that the first thread sleeps */
    begin_reduction();
    for (int i = 0; i < fuzz.size; i++)
      if (i != first) MPI_Send(NULL, 0, MPI_CHAR, i, 8, polled);
  }
}

/* --- two locks: the threads of one rank wait for the locks of two others, of which the first comes last ---
 */
static void two_locks(int thread, void* data) {
  const int *rank = data, role = rank[0] == fuzz.rank   ? 0
                                 : rank[1] == fuzz.rank ? 1
                                 : rank[2] == fuzz.rank ? 2
                                                        : 3;
  if (role == 0) {
    if (thread == 1) usleep(2000); /* so that the other thread waits */
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank[1 + thread], 0, locks);
    MPI_Win_unlock(rank[1 + thread], locks);
    if (thread == 1) MPI_Send(NULL, 0, MPI_CHAR, rank[1], 10, comm);
  }
  if (role == 1) MPI_Recv(NULL, 0, MPI_CHAR, rank[0], 10, comm, MPI_STATUS_IGNORE);
  if (role == 2) usleep(6000); /* so that both threads wait */
  if (role == 1 || role == 2) MPI_Win_unlock(fuzz.rank, locks);
}

/* --- requests: the first thread begins them, the second completes them --- */
static struct {
  MPI_Request requests[2];
  int in[5000], out[5000];
} handed;
static void hands_over(int thread, void* data) {
  Random random = own_of(fuzz_step, 5);
  (void)data;
  if (thread == 0) return;
  for (int i = 0; i < 2; i++) complete(&random, &handed.requests[i], MPI_STATUS_IGNORE);
}
static void hand_over(Random* random) {
  const int count = between(random, 0, 5000), to = (fuzz.rank + 1) % fuzz.size,
            from = (fuzz.rank + fuzz.size - 1) % fuzz.size;
  for (int i = 0; i < count; i++) handed.out[i] = fuzz.rank * 10000 + i;
  MPI_Irecv(handed.in, count, MPI_INT, from, 11, comm, &handed.requests[0]);
  MPI_Issend(handed.out, count, MPI_INT, to, 11, comm, &handed.requests[1]);
  in_threads(2, hands_over, NULL);
  for (int i = 0; i < count; i++)
    CHECK(handed.in[i] == from * 10000 + i, "number %d of a request that another thread completed is %d", i,
          handed.in[i]);
}

/* --- a signal: the second thread installs its handler, and sends it to the first, which waits --- */
static volatile sig_atomic_t handled;
static pthread_t first_thread;
static void on_signal(int number) {
  (void)number;
  handled = 1;
}
static void signals(int thread, void* data) {
  (void)data;
  if (thread == 0) {
    MPI_Recv(NULL, 0, MPI_CHAR, fuzz.rank, 12, comm, MPI_STATUS_IGNORE);
    return;
  }
  struct sigaction action = {.sa_handler = on_signal}, old;
  usleep(2000); /* so that the first thread sleeps */
  handled = 0;
  sigaction(SIGUSR2, &action, &old);
  pthread_kill(first_thread, SIGUSR2);
  for (int i = 0; !handled && i < kPatience * 1000; i++) usleep(1000);
  CHECK(handled, "a signal's handler is not called while its thread waits in MPI_Recv");
  sigaction(SIGUSR2, &old, NULL);
  MPI_Send(NULL, 0, MPI_CHAR, fuzz.rank, 12, comm);
}

/* --- a sender that computes: its message is taken without it --- */
static void computes(Random* random) {
  const int source = below(random, fuzz.size), target = below(random, fuzz.size),
            bytes = chance(random, 50) ? between(random, 60000, 1100000) : bytes_of(random, 2000000);
  char* data = malloc((size_t)bytes + 1);
  MPI_Request request;
  *taken[fuzz.rank] = 0;
  MPI_Barrier(comm);
  if (source != target && source == fuzz.rank) {
    usleep(3000); /* so that the receiver sleeps */
    fill(data, (size_t)bytes, (uint64_t)bytes);
    MPI_Isend(data, bytes, MPI_BYTE, target, 13, comm, &request);
    const double begin = MPI_Wtime();
    while (!*taken[target])
      CHECK(MPI_Wtime() - begin < kPatience, "a message of %d bytes is not taken while its sender computes",
            bytes);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (source != target && target == fuzz.rank) {
    MPI_Recv(data, bytes, MPI_BYTE, source, 13, comm, MPI_STATUS_IGNORE);
    *taken[fuzz.rank] = 1;
  }
  free(data);
}

/* --- more messages than a rank takes: its memory has a bound --- */
static long memory_kilobytes(void) {
  char line[200];
  long kilobytes = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (status && fgets(line, sizeof line, status)) sscanf(line, "VmRSS: %ld", &kilobytes);
  if (status) fclose(status);
  return kilobytes;
}
static void flood(Random* random) {
  enum { kMessages = 2000, kMostKilobytes = 64 << 10 };
  const int target = below(random, fuzz.size), source = (target + 1) % fuzz.size,
            bytes = between(random, 20000, 66000);
  if (source == target) return;
  if (source == fuzz.rank) {
    for (int i = 0; i < kMessages; i++) MPI_Send(sent[0], bytes, MPI_BYTE, target, 14, comm);
    MPI_Send(NULL, 0, MPI_CHAR, target, 15, polled);
  }
  if (target == fuzz.rank) {
    const long before = memory_kilobytes();
    const double begin = MPI_Wtime();
    int found = 0;
    while (!found && MPI_Wtime() - begin < 0.3) MPI_Iprobe(source, 15, polled, &found, MPI_STATUS_IGNORE);
    const long grown = memory_kilobytes() - before;
    CHECK(grown < kMostKilobytes, "a rank that does not receive messages of %d bytes keeps %ld KB of them",
          bytes, grown);
    for (int i = 0; i < kMessages; i++)
      MPI_Recv(received, bytes, MPI_BYTE, source, 14, comm, MPI_STATUS_IGNORE);
    MPI_Recv(NULL, 0, MPI_CHAR, source, 15, polled, MPI_STATUS_IGNORE);
  }
}

static void one_step(Random* random, int kind) {
  int order[kMostRanks];
  permute(random, order, fuzz.size);
  if (kind == kCancels) {
    atomic_store(&stop, 0);
    in_threads(2, cancels, NULL);
  }
  if (kind == kReduction) {
    in_threads(fuzz.rank == order[0] ? 2 : 1, reduces, &order[0]);
    if (fuzz.rank == order[0]) end_reduction();
  }
  if (kind == kTwoLocks && fuzz.size >= 3) {
    if (fuzz.rank == order[1] || fuzz.rank == order[2]) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, fuzz.rank, 0, locks);
    MPI_Barrier(comm);
    in_threads(fuzz.rank == order[0] ? 2 : 1, two_locks, order);
  }
  if (kind == kHandedOver) hand_over(random);
  if (kind == kSignal) {
    first_thread = pthread_self();
    in_threads(2, signals, NULL);
  }
  if (kind == kComputes) computes(random);
  if (kind == kFlood) flood(random);
}
static void plan(int steps) {
  for (int i = 0; i < steps; i++) {
    Random random = plan_of(i, 0);
    const int kind = below(&random, 30) == 0 ? kFlood : below(&random, kFlood);
    if (!step_begins(i) || fuzz.threads < 2 || left_out(kind)) continue;
    note("%s", kNames[kind]);
    one_step(&random, kind);
    MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  void* memory;
  fuzz_init(argc, argv, "beside");
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &polled);
  MPI_Comm_dup(MPI_COMM_WORLD, &third);
  MPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &locks);
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, comm, &memory, &flags);
  for (int i = 0; i < fuzz.size; i++) {
    MPI_Aint bytes;
    int unit = 0;
    MPI_Win_shared_query(flags, i, &bytes, &unit, &memory);
    taken[i] = memory;
  }
  run_seeds(20, plan);
  MPI_Win_free(&flags);
  MPI_Win_free(&locks);
  MPI_Comm_free(&third);
  MPI_Comm_free(&polled);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
