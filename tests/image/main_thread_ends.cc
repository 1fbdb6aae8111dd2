// The main thread of a rank ends by pthread_exit(): its objects are destructed, other threads of the rank go
// on, and the rank ends with the last of them.
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>

#include "expect.h"
#include "rank.h"

namespace {

int rank = -1;
int size = 0;
bool unwound = false;
bool local_gone = false;
bool key_gone = false;

struct Mark {
  bool* gone;
  ~Mark() { *gone = true; }
};

void* goes_on(void* main_thread) {
  // Nobody joins a main thread that is a fiber's; it takes what it takes.
  (void)main_thread;
  usleep(100'000);
  int sum = 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  EXPECT(sum == size * (size - 1) / 2);
  EXPECT(unwound && local_gone && key_gone);
  MPI_Finalize();
  // As in a process, the exit code is 0 whatever this returns: errors are told in another way.
  if (failures != 0) _exit(failures);
  return nullptr;
}

}  // namespace

int main() {
  int provided = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  static thread_local Mark local{&local_gone};
  EXPECT(!*local.gone);
  pthread_key_t key;
  pthread_key_create(&key, [](void* value) { *static_cast<bool*>(value) = true; });
  pthread_setspecific(key, &key_gone);
  pthread_t other;
  pthread_create(&other, nullptr, goes_on, nullptr);
  pthread_detach(other);
  const Mark here{&unwound};
  if (rank % 2 == 0) usleep(1000);
  pthread_exit(nullptr);
}
