// The end of threads of a rank. As in a process, the main thread of a rank may end by pthread_exit() while
// others go on, and the rank ends when the last one does, with exit code 0.
#include <limits.h>
#include <pthread.h>

#include <cstdlib>

#include "fiber/fiber.h"
#include "runtime/host_state.h"

namespace clump::runtime {

namespace {

pthread_key_t main_thread;

/// The C library runs this when a main thread ends: its stack is unwound, and its thread-local objects are
/// destructed. Other keys' destructors get their rounds first.
void on_main_thread_end(void* argument) {
  auto& rank = *static_cast<HostedRank*>(argument);
  image::destruct_thread_locals();  // the C library does not do this for the first thread of a process
  if (++rank.key_rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    ::pthread_setspecific(main_thread, argument);
    return;
  }
  image::thread_of_rank_ends(rank.identity);
  // A fiber's kernel thread must not end with it: a worker's is in its place.
  fiber::end_here();
}

}  // namespace

void prepare_for_thread_ends() { ::pthread_key_create(&main_thread, on_main_thread_end); }

void watch_main_thread(HostedRank& rank) { ::pthread_setspecific(main_thread, &rank); }

}  // namespace clump::runtime
