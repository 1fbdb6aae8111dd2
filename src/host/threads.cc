// The end of threads of a rank. As in a process, the main thread of a rank may end by pthread_exit() while
// others go on, and the rank ends when the last one does, with exit code 0.
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "base/thread_name.h"
#include "fiber/awake_threads.h"
#include "fiber/fiber.h"
#include "fiber/worker.h"
#include "host/state.h"
#include "process/libc/exit.h"

namespace clump::host {

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

/// So often, whether the program has threads, after its main thread has ended. Nothing tells.
constexpr std::chrono::milliseconds kLook{10};

/// The kernel keeps the main thread's place until the process ends.
bool has_main_thread_ended() {
  char line[256] = {};
  if (std::FILE* const file = std::fopen("/proc/self/stat", "re"); file != nullptr) {
    (void)!std::fgets(line, sizeof line, file);
    std::fclose(file);
  }
  const char* const after_name = std::strrchr(line, ')');
  return after_name != nullptr && std::strncmp(after_name, ") Z", 3) == 0;
}

bool is_program_gone() {
  struct stat tasks {};
  if (::stat("/proc/self/task", &tasks) != 0) return false;
  const int threads = static_cast<int>(tasks.st_nlink) - 2;
  return threads <= fiber::service_threads() + 1 && has_main_thread_ended();
}

/// The C library ends the process when its last thread ends, and counts the runtime's threads.
void* end_with_program(void*) {
  base::name_own_thread("end");
  while (!is_program_gone()) std::this_thread::sleep_for(kLook);
  std::exit(0);
}

void on_end_of_process_thread(void*) { (void)fiber::start_kernel_thread(end_with_program, nullptr); }

}  // namespace

void prepare_for_thread_ends() { ::pthread_key_create(&main_thread, on_main_thread_end); }

void watch_main_thread(HostedRank& rank) { ::pthread_setspecific(main_thread, &rank); }

void watch_main_thread_of_process() {
  if (::pthread_key_create(&main_thread, on_end_of_process_thread) == 0)
    ::pthread_setspecific(main_thread, &main_thread);
}

}  // namespace clump::host
