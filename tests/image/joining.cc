// Joining threads that a rank made, by every function that does it.
#include <pthread.h>
#include <threads.h>
#include <unistd.h>

#include <thread>

#include "../meter.h"
#include "expect.h"
#include "rank.h"

namespace {

void* give_back(void* argument) { return argument; }

void* exit_with(void* argument) {
  usleep(1000);
  pthread_exit(argument);
}

void* sleep_long(void*) {
  sleep(1000);
  return nullptr;
}

int seven(void*) { return 7; }

void results() {
  int there = 0;
  for (void* (*const function)(void*) : {give_back, exit_with}) {
    pthread_t thread;
    void* result = nullptr;
    EXPECT(pthread_create(&thread, nullptr, function, &there) == 0);
    EXPECT(pthread_join(thread, &result) == 0);
    EXPECT(result == &there);
  }

  pthread_t thread;
  void* result = nullptr;
  EXPECT(pthread_create(&thread, nullptr, give_back, &there) == 0);
  usleep(20'000);  // it has ended long ago
  EXPECT(pthread_join(thread, &result) == 0);
  EXPECT(result == &there);

  EXPECT(pthread_create(&thread, nullptr, sleep_long, nullptr) == 0);
  EXPECT(pthread_cancel(thread) == 0);
  EXPECT(pthread_join(thread, &result) == 0);
  EXPECT(result == PTHREAD_CANCELED);

  thrd_t c11;
  int code = 0;
  EXPECT(thrd_create(&c11, seven, nullptr) == thrd_success);
  EXPECT(thrd_join(c11, &code) == thrd_success);
  EXPECT(code == 7);
}

/// A thread that a thread joins, one that nobody joins, and one that is joined by who did not make it.
void families() {
  int done = 0;
  std::thread([&done] { std::thread([&done] { ++done; }).join(); }).join();
  EXPECT(done == 1);

  pthread_t orphan;
  EXPECT(pthread_create(&orphan, nullptr, give_back, nullptr) == 0);
  EXPECT(pthread_detach(orphan) == 0);

  std::thread made_by_another;
  std::thread([&] { made_by_another = std::thread([&done] { ++done; }); }).join();
  made_by_another.join();
  EXPECT(done == 2);
}

/// The thread that is joined needs all other ranks, some of which wait for the same worker.
void rounds(int ranks) {
  for (int round = 0; round < 50; ++round) {
    int sum = 0;
    std::thread listener([&] {
      for (int i = 0; i < ranks; ++i) {
        int got = -1;
        MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sum += got;
      }
    });
    for (int to = 0; to < ranks; ++to) MPI_Send(&round, 1, MPI_INT, to, 0, MPI_COMM_WORLD);
    listener.join();
    EXPECT(sum == ranks * round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

}  // namespace

int main() {
  int provided = 0, ranks = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  results();
  families();
  Meter stuck = meter_start("rank_stuck");
  rounds(ranks);
  // A rank that joins leaves its worker to others by itself. With 16 ranks on two cores none had to be taken
  // away, and 660 if they keep them.
  EXPECT(meter_of_all(&stuck) <= 5 * ranks);
  meter_end(&stuck);
  MPI_Finalize();
  return failures;
}
