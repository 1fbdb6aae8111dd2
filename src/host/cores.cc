// Which cores the main thread of a rank has before the rank begins.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fiber/kernel_state.h"
#include "fiber/process_cores.h"
#include "host/shares.h"
#include "host/state.h"

namespace clump::host {

namespace {

/// Cores of the calling kernel thread, as the kernel has them.
struct Affinity {
  std::array<unsigned char, 1024> bits{};
  std::size_t bytes = 0;

  void read() {
    const long filled = ::syscall(SYS_sched_getaffinity, 0, bits.size(), bits.data());
    bytes = filled > 0 ? static_cast<std::size_t>(filled) : 0;
  }
  void set() const {
    if (bytes != 0) ::syscall(SYS_sched_setaffinity, 0, bytes, bits.data());
  }
  std::vector<std::int32_t> numbers() const {
    std::vector<std::int32_t> all;
    for (std::size_t core = 0; core < 8 * bytes; ++core)
      if ((bits[core / 8] >> core % 8 & 1) != 0) all.push_back(static_cast<std::int32_t>(core));
    return all;
  }
};

/// What the process has begun with, and what the first rank's constructors have left to its main thread.
constinit Affinity of_process, of_first_rank;

/// Whether the program, or a library of it, uses OpenMP.
bool has_openmp() {
  static const bool has = ::dlsym(RTLD_DEFAULT, "omp_get_num_procs") != nullptr;
  return has;
}

/// An equal share of the process's cores, for a rank that is a kernel thread.
std::vector<std::int32_t> share_of_process(int rank) {
  const pmi::Job& job = host().job;
  const auto index = static_cast<std::size_t>(job.rank_mapping.slot_of(rank) - job.here().first_slot);
  return share_of(of_process.numbers(), index, static_cast<std::size_t>(host().rank_count()));
}

/// Ranks that are kernel threads have a share of the cores, as processes have, if there is a core for each:
/// otherwise two that spin may get the same one. If there is not, they run where the kernel likes. But OpenMP
/// binds threads to the cores that it finds, and spins while it believes that there is a core for each.
std::vector<std::int32_t> own_cores_of(int rank) {
  const pmi::Job& job = host().job;
  if (job.scheduler == pmi::Scheduler::kFibers) return job.cores_of(rank);
  return job.spin || has_openmp() ? share_of_process(rank) : std::vector<std::int32_t>();
}

}  // namespace

void narrow_to_cores_of(int rank) {
  if (of_process.bytes == 0) {
    of_process.read();
    fiber::note_cores_of_process(of_process.numbers());
  }
  if (rank == host().ranks[0].identity.rank && of_first_rank.bytes != 0) return of_first_rank.set();
  fiber::set_cores_of_this_thread(own_cores_of(rank));
}

void widen_to_cores_of_process() {
  of_first_rank.read();
  of_process.set();
}

}  // namespace clump::host
