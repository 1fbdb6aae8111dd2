// Starting and ending MPI (MPI-5.0 chapter 11), and MPI_Abort (section 9.7).
#include "mpi/initialization.h"

#include <pthread.h>

#include <chrono>
#include <string>

#include "coll/coll.h"
#include "core/rank.h"
#include "fiber/fiber.h"
#include "io/representation.h"
#include "mpi/bodies.h"
#include "mpi/check/checking.h"
#include "mpi/check/left_over.h"
#include "mpi/introduction.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "mpi/trace/recording.h"
#include "net/link/link_channel.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;

/// The ranks of a job that MPI_Comm_spawn has started by mpiexec connect to their parents.
Status meet_parents(Rank& self) {
  const std::string port = parent_port();
  if (port.empty() || self.launch.number != 0) return {};
  const auto find = [&](LeaderLink& link) { return connect_at_root(self, port.c_str(), link); };
  MPI_Comm parents = MPI_COMM_NULL;
  CLUMP_TRY(introduce(coll::Members(*self.comm_world, coll::Caller::kIntercommCreate), 0, find,
                      *self.comm_world, &parents));
  self.parent.comm = self.remove(parents);
  self.parent.comm->name.set("MPI_COMM_PARENT");
  return {};
}

/// `level` is what the program asks for. It gets MPI_THREAD_MULTIPLE whatever that is, unless it wants to
/// know whether it keeps to it.
Status begin(Rank& self, int level) {
  Rank::Phase before = Rank::Phase::kBefore;
  // relaxed: the standard forbids concurrent calls; the exchange only tells a second one.
  if (!self.phase.compare_exchange_strong(before, Rank::Phase::kInitialized, std::memory_order_relaxed))
    return base::fail(
        MPI_ERR_OTHER, "{}",
        before == Rank::Phase::kInitialized
            ? "MPI is initialised already: call MPI_Init or MPI_Init_thread once (MPI_Initialized tells)"
            : "MPI was finalised; it cannot be initialised again");
  self.main_thread = pthread_self();
  self.thread_level = self.world.checks == core::Checks::kNone ? MPI_THREAD_MULTIPLE : level;
  self.show_world(true);
  begin_use(self);
  return meet_parents(self);
}

/// What the rank has to call before it may end.
const char* owed(const Rank& self) {
  if (self.phase.load(std::memory_order_relaxed) == Rank::Phase::kInitialized) return "MPI_Finalize";
  return self.users.load(std::memory_order_relaxed) > 0 ? "MPI_Session_finalize" : nullptr;
}

/// What was sent to other jobs is on its way before this process may end.
void flush_links(const Rank& self) {
  constexpr std::chrono::microseconds kPause{100};
  const net::LinkChannel* const link = self.world.link.get();
  while (link != nullptr && !link->is_flushed()) fiber::sleep_until(fiber::now() + kPause);
}

}  // namespace

void begin_use(Rank& self) {
  const std::lock_guard lock(self.users_mutex);
  const bool is_first = self.users.fetch_add(1, std::memory_order_relaxed) == 0;
  announce_owed(owed(self));
  if (!is_first) return;
  Checking::begin_use(self);
  Recording::begin_use(self);
}

void end_use(Rank& self) {
  p2p::poll(self);  // what is held back to go with more has nothing to wait for any more
  const std::lock_guard lock(self.users_mutex);
  if (self.users.load(std::memory_order_relaxed) == 1) {
    static_cast<void>(self.send_buffer.detach());
    self.forget_all();
    // Functions that a later session cannot take back: what has registered them may be unloaded by then.
    io::Representations::of(self).forget();
    self.file_errhandler.set(core::Errhandler::returns());
    {
      const std::lock_guard of_parent(self.parent.mutex);
      self.parent.comm = {};
    }
    flush_links(self);
  }
  const bool was_last = self.users.fetch_sub(1, std::memory_order_relaxed) == 1;
  if (was_last) Recording::end_use(self);
  announce_owed(owed(self));
}

Status init(Rank& self, int*, char***) { return begin(self, MPI_THREAD_SINGLE); }

Status init_thread(Rank& self, int*, char***, int required, int* provided) {
  if (!is_thread_level(required))
    return base::fail(
        MPI_ERR_ARG,
        "required = {} is no thread level: use MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE",
        required);
  CLUMP_TRY(begin(self, required));
  *provided = self.thread_level;
  return {};
}

Status finalize(Rank& self) {
  if (self.phase.load(std::memory_order_relaxed) != Rank::Phase::kInitialized)
    return base::fail(MPI_ERR_OTHER,
                      "MPI_Init was not called, or MPI_Finalize was before; sessions end with "
                      "MPI_Session_finalize");
  // MPI-5.0 section 11.4.2: first the attributes of MPI_COMM_SELF, while everything still works.
  CLUMP_TRY(self.comm_self->attributes.clear(MPI_COMM_SELF));
  const Status left = tell_left_over(self);
  // Sends that nobody waits for, buffered ones too, must reach their receivers before this rank's memory
  // goes.
  CLUMP_TRY(coll::run(*self.comm_world, coll::Call::barrier().by(coll::Caller::kFinalize)));
  self.phase.store(Rank::Phase::kFinalized, std::memory_order_relaxed);
  self.show_world(false);
  self.forget(core::Origin::kWorld);
  end_use(self);
  return left;
}

Status abort(Rank& self, core::Comm& comm, int errorcode) {
  // The whole job, whatever the communicator: the best effort that MPI-5.0 section 9.7 asks for.
  const std::string name = comm.name.get();
  self.world.abort_job(self.number, errorcode,
                       fmt::format("MPI_Abort({}, {})", name.empty() ? "a communicator" : name, errorcode));
  return {};
}

}  // namespace clump::mpi
