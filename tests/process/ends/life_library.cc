// A library that uses MPI from its first function (-init) to its last one (-fini): see life.cc.
#include "life.h"

#include <mpi.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace {

pthread_key_t key;
thread_local long in_thread;
long own;
pid_t process;
int to_parent = -1;

struct Object {
  Object() { life_check("constructor of the library's object"); }
  ~Object() { life_check("destructor of the library's object"); }
} object;

[[gnu::destructor]] void destructor() { life_check("destructor of the library"); }
void handler() { life_check("exit handler of the library"); }
[[gnu::constructor]] void constructor() { std::atexit(handler); }

}  // namespace

extern "C" {

void life_begins() {
  int rank = 0;
  MPI_Init(nullptr, nullptr);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  process = getpid();
  own = in_thread = rank + 1;
  pthread_key_create(&key, nullptr);
  pthread_setspecific(key, reinterpret_cast<void*>(own));
  life_check("first function of the library");
}

void life_ends() {
  life_check("last function of the library");
  if (getpid() != process) return;
  MPI_Finalize();
  if (own == 1) std::printf("finalized last\n");
}

void life_tell_parent(int descriptor) { to_parent = descriptor; }

void life_check(const char* where) {
  if (getpid() != process) {
    if (to_parent >= 0 && write(to_parent, "x", 1) != 1) std::abort();
    return;
  }
  int ranks = 0;
  long sum = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Allreduce(&own, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  const long specific = reinterpret_cast<long>(pthread_getspecific(key));
  if (sum == ranks * (ranks + 1L) / 2 && in_thread == own && specific == own) return;
  std::printf("rank %ld, %s: sum %ld, thread_local %ld, pthread_getspecific %ld\n", own - 1, where, sum,
              in_thread - 1, specific - 1);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

}  // extern "C"
