#include "mpi/entry/turn.h"

#include <atomic>
#include <cstdint>

namespace clump::mpi {

namespace {

[[gnu::cold]] base::Status refuse(Named<MPI_Comm> argument, const core::Comm& comm) {
  const std::string name = comm.name.get();
  const char* const other = comm.collective_call.load(std::memory_order_relaxed);  // relaxed: see take()
  return base::fail(
      MPI_ERR_OTHER,
      "({} = {}): another thread of this rank is in {} on this communicator, and collective calls of one "
      "communicator must come one after the other; give each thread a communicator of its own (MPI_Comm_dup)",
      argument.name, name.empty() ? fmt::format("{:#x}", core::value_of(argument.value)) : name,
      other != nullptr ? other : "a collective call");
}

}  // namespace

Turn::Taken Turn::take(Named<MPI_Comm> argument, core::Comm& comm, const char* call) {
  const auto self = reinterpret_cast<std::uintptr_t>(::pthread_self());
  std::uintptr_t other = 0;
  // acquire: pairs with the release in give_back(), so that what the last call did is seen.
  if (comm.collective_thread.compare_exchange_strong(other, self, std::memory_order_acquire)) {
    comm.collective_call.store(call, std::memory_order_relaxed);  // relaxed: for a message only
    return {base::Ref<core::Comm>(&comm).release_to_owner(), {}};
  }
  // A function of the user's that MPI calls, such as a copy function of an attribute, is in the same thread.
  if (other == self) return {};
  return {nullptr, refuse(argument, comm)};
}

void Turn::give_back(core::Comm* taken) {
  const auto comm = base::Ref<core::Comm>::adopt(taken);
  comm->collective_thread.store(0, std::memory_order_release);  // release: pairs with acquire in take()
}

}  // namespace clump::mpi
