#include "mpi/turn.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <vector>

namespace clump::mpi {

namespace {

/// A thread that is in a collective call.
struct Caller {
  const core::Comm* comm;
  pthread_t thread;
  const char* call;
};

/// Those of the communicators that share a place, of all ranks that have several threads.
struct alignas(64) Place {
  std::mutex mutex;
  std::vector<Caller> callers;
};

Place& place_of(const core::Comm& comm) {
  static auto& places = *new std::array<Place, 64>;
  const auto address = reinterpret_cast<std::uintptr_t>(&comm);
  return places[(address * 0x9e3779b97f4a7c15) >> 58];
}

[[gnu::cold]] base::Status refuse(Named<MPI_Comm> argument, const core::Comm& comm, const char* other) {
  return base::fail(
      MPI_ERR_OTHER,
      "({} = {}): another thread of this rank is in {} on this communicator, and collective calls of one "
      "communicator must come one after the other; give each thread a communicator of its own (MPI_Comm_dup)",
      argument.name, comm.name.empty() ? fmt::format("{:#x}", core::value_of(argument.value)) : comm.name,
      other);
}

}  // namespace

Turn::Taken Turn::take(Named<MPI_Comm> argument, core::Comm& comm, const char* call) {
  const pthread_t self = ::pthread_self();
  Place& place = place_of(comm);
  const char* other = nullptr;
  {
    const std::lock_guard lock(place.mutex);
    const auto found = std::ranges::find(place.callers, &comm, &Caller::comm);
    if (found == place.callers.end()) {
      place.callers.push_back({&comm, self, call});
      return {base::Ref<core::Comm>(&comm).release_to_owner(), {}};
    }
    // A function of the user's that MPI calls, such as a copy function of an attribute, is in the same
    // thread.
    if (::pthread_equal(found->thread, self) != 0) return {};
    other = found->call;
  }
  return {nullptr, refuse(argument, comm, other)};
}

void Turn::give_back(core::Comm* taken) {
  const auto comm = base::Ref<core::Comm>::adopt(taken);
  Place& place = place_of(*comm);
  const std::lock_guard lock(place.mutex);
  std::erase_if(place.callers, [&](const Caller& caller) { return caller.comm == comm.get(); });
}

}  // namespace clump::mpi
