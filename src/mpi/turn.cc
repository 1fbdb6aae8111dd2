#include "mpi/turn.h"

namespace clump::mpi {

namespace {

[[gnu::cold]] base::Status refuse(Named<MPI_Comm> argument, const core::Comm& comm) {
  // Null where the other thread has just come, or is gone again.
  const char* const other = comm.turn.call.load(std::memory_order_relaxed);
  return base::fail(
      MPI_ERR_OTHER,
      "({} = {}): another thread of this rank is in {} on this communicator, and collective calls of one "
      "communicator must come one after the other; give each thread a communicator of its own (MPI_Comm_dup)",
      argument.name, comm.name.empty() ? fmt::format("{:#x}", core::value_of(argument.value)) : comm.name,
      other != nullptr ? other : "a collective call");
}

}  // namespace

Turn::Taken Turn::take(Named<MPI_Comm> argument, core::Comm& comm, const char* call) {
  const auto self = static_cast<std::uintptr_t>(pthread_self());
  std::uintptr_t holder = 0;
  // acquire: pairs with release in give_back(); what the last collective call left is seen by this one.
  if (comm.turn.thread.compare_exchange_strong(holder, self, std::memory_order_acquire,
                                               std::memory_order_relaxed)) {
    comm.turn.call.store(call, std::memory_order_relaxed);
    return {base::Ref<core::Comm>(&comm).release_to_owner(), {}};
  }
  // A function of the user's that MPI calls, such as a copy function of an attribute, is in the same thread.
  return {nullptr, holder == self ? base::Status() : refuse(argument, comm)};
}

void Turn::give_back(core::Comm* taken) {
  const auto comm = base::Ref<core::Comm>::adopt(taken);
  comm->turn.call.store(nullptr, std::memory_order_relaxed);
  // release: pairs with acquire in take().
  comm->turn.thread.store(0, std::memory_order_release);
}

}  // namespace clump::mpi
