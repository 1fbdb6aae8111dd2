// A rank sees its share of the cores, and so do the threads and programs that it starts.
#include <omp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <pthread.h>

#include "expect.h"
#include "rank.h"

namespace {

int cores_of(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT(sched_getaffinity(thread, sizeof set, &set) == 0);
  return CPU_COUNT(&set);
}

/// As the kernel has it for the calling kernel thread.
int kernels_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT(syscall(SYS_sched_getaffinity, 0, sizeof set, &set) > 0);
  return CPU_COUNT(&set);
}

/// What nproc prints: programs that a rank starts.
int cores_of_child() {
  int cores = -1;
  FILE* child = popen("nproc", "r");
  EXPECT(child != nullptr && fscanf(child, "%d", &cores) == 1);
  pclose(child);
  return cores;
}

/// A new thread must not have to wait for its maker's core before it may use another one: OpenMP's main
/// thread spins until its team has begun.
void begin_with_all_cores(int share) {
  for (int round = 0; round < 20; ++round) {
    std::mutex ended;
    ended.lock();
    std::thread thread([&] { ended.lock(); });
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT(pthread_getaffinity_np(thread.native_handle(), sizeof set, &set) == 0 && CPU_COUNT(&set) == share);
    ended.unlock();
    thread.join();
  }
}

}  // namespace

// cores SHARE: so many each rank must have.
int main(int, char** arguments) {
  begin_rank();
  const int share = std::atoi(arguments[1]);
  for (int round = 0; round < 3; ++round) {
    EXPECT(cores_of(0) == share);
    EXPECT(cores_of(gettid()) == share);
    cpu_set_t set;
    CPU_ZERO(&set);
    EXPECT(pthread_getaffinity_np(pthread_self(), sizeof set, &set) == 0 && CPU_COUNT(&set) == share);
    EXPECT(std::thread::hardware_concurrency() == static_cast<unsigned>(share));
    EXPECT(sysconf(_SC_NPROCESSORS_ONLN) == share);
    EXPECT(omp_get_max_threads() == share && omp_get_num_procs() == share);
    int threads = 0;
#pragma omp parallel reduction(+ : threads)
    threads += 1;
    EXPECT(threads == share);
    std::thread([&] {
      EXPECT(kernels_cores() == share);
      EXPECT(cores_of(0) == share);
      std::thread([&] { EXPECT(kernels_cores() == share); }).join();
    }).join();
    EXPECT(cores_of_child() == share);
    unsigned core = 0;
    EXPECT(syscall(SYS_getcpu, &core, nullptr, nullptr) == 0);
    EXPECT(sched_getcpu() == static_cast<int>(core));  // the worker's, not where the rank's own thread sleeps
    MPI_Barrier(MPI_COMM_WORLD);
  }

  begin_with_all_cores(share);

  // Attributes that name cores are obeyed.
  cpu_set_t allowed, one;
  sched_getaffinity(0, sizeof allowed, &allowed);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setaffinity_np(&attributes, sizeof one, &one);
  pthread_t thread;
  const auto on_one_core = [](void*) -> void* {
    EXPECT(kernels_cores() == 1);
    return nullptr;
  };
  EXPECT(pthread_create(&thread, &attributes, on_one_core, nullptr) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);

  // What a rank sets, it sees, and so do its threads.
  EXPECT(sched_setaffinity(0, sizeof one, &one) == 0);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT(cores_of(0) == 1);
  std::thread([] { EXPECT(kernels_cores() == 1); }).join();
  EXPECT(pthread_setaffinity_np(pthread_self(), sizeof allowed, &allowed) == 0);
  EXPECT(cores_of(0) == share);
  MPI_Finalize();
  return failures;
}
