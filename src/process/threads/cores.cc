#include <dlfcn.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "base/types.h"
#include "fiber/fiber.h"
#include "fiber/kernel_state.h"
#include "image/image.h"
#include "image/rank_image.h"
#include "image/symbols.h"
#include "process/rank_state.h"
#include "process/threads/cores.h"

namespace clump::image {
namespace {

Cores cores_of_thread(pid_t thread) {
  Cores cores;
  const long bytes = syscall(SYS_sched_getaffinity, thread, sizeof cores.bits, cores.bits);
  cores.bytes = bytes > 0 ? static_cast<std::size_t>(bytes) : 0;
  return cores;
}

/// The thread that a caller means. 0 is the calling thread; for a fiber that is its own kernel thread.
pid_t thread_meant(pid_t thread) {
  return thread == 0 && fiber::rank_fiber() != nullptr ? fiber::own_kernel_thread() : thread;
}

}  // namespace

int Cores::count() const {
  int count = 0;
  for (std::size_t i = 0; i < bytes; ++i) count += __builtin_popcount(bits[i]);
  return count;
}

Cores cores_of_fiber() {
  return fiber::rank_fiber() != nullptr ? cores_of_thread(fiber::own_kernel_thread()) : Cores{};
}

void use_cores(const Cores& cores) {
  if (cores.bytes != 0) syscall(SYS_sched_setaffinity, 0, cores.bytes, cores.bits);
}

void keep_cores_after_fork() { use_cores(cores_of_fiber()); }

void set_core_count(fiber::Identity& rank, int cores) { image_of(&rank).state().core_count = cores; }

void tell_openmp_core_count(fiber::Identity& rank) {
  if (base::variable("OMP_NUM_THREADS") != nullptr) return;
  const void* const set = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
  if (set != nullptr)
    reinterpret_cast<void (*)(int)>(translate(rank, set))(image_of(&rank).state().core_count);
}

int is_in_parallel_region() {
  static const void* const asked = dlsym(RTLD_DEFAULT, "omp_in_parallel");
  fiber::Identity* const rank = fiber::identity();
  if (asked == nullptr || rank == nullptr) return 0;
  return reinterpret_cast<int (*)()>(translate(*rank, asked))();
}

WithCoresOfFiber::WithCoresOfFiber() {
  if (fiber::rank_fiber() == nullptr) return;
  before_ = cores_of_thread(0);
  use_cores(cores_of_fiber());
}

WithCoresOfFiber::~WithCoresOfFiber() {
  const int error = errno;
  use_cores(before_);
  errno = error;
}

}  // namespace clump::image

using namespace clump::image;  // the functions below are the C library's, outside of any namespace

extern "C" {

CLUMP_HOST_API int sched_getaffinity(pid_t thread, size_t size, cpu_set_t* set) noexcept {
  static constinit Hidden<int(pid_t, size_t, cpu_set_t*)> real{"sched_getaffinity"};
  return real(thread_meant(thread), size, set);
}

CLUMP_HOST_API int sched_setaffinity(pid_t thread, size_t size, const cpu_set_t* set) noexcept {
  static constinit Hidden<int(pid_t, size_t, const cpu_set_t*)> real{"sched_setaffinity"};
  return real(thread_meant(thread), size, set);
}

// How many threads a program should start; std::thread::hardware_concurrency(), for example, uses it.
CLUMP_HOST_API int get_nprocs() noexcept {
  static constinit Hidden<int()> real{"get_nprocs"};
  const int mine = captured() ? current_image().state().core_count : 0;
  return mine > 0 ? mine : real();
}

CLUMP_HOST_API long sysconf(int name) noexcept {
  static constinit Hidden<long(int)> real{"sysconf"};
  return name == _SC_NPROCESSORS_ONLN ? get_nprocs() : real(name);
}

}  // extern "C"
