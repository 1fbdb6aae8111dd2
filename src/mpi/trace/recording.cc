#include "mpi/trace/recording.h"

#include <iterator>

#include "core/request.h"
#include "core/topology.h"
#include "fiber/core_watch.h"
#include "fiber/fiber.h"
#include "fiber/rank_callbacks.h"

namespace clump::mpi {

namespace {

// There is room for all functions in a record.
struct Named {
  const char *name, *chapter;
};
constexpr Named kNumbered[] = {
#include "calls.inc"
};
static_assert(std::size(kNumbered) <= record::kCalls);

class Observer final : public fiber::WaitObserver, public fiber::CoreWatch {
 public:
  void wait_begins() noexcept override { record::Recorder::mine().wait_begins(); }
  void wait_ended() noexcept override {
    const core::Request* const awaited = core::Request::being_awaited;
    record::Recorder::mine().wait_ended(awaited != nullptr ? awaited->awaited() : MPI_UNDEFINED);
  }
  void had_no_core(std::uint64_t since) noexcept override { record::Recorder::mine().had_no_core(since); }
  std::uint64_t now() const noexcept override { return record::Book::now(); }
};

Observer observer;

bool is_team(const core::Comm& comm) { return comm.team && comm.team->kind == core::Team::Kind::kHere; }

/// Only ranks of one host record collectives in the same memory.
bool meets_on_one_host(const core::Comm& comm) {
  const core::World& world = comm.owner.world;
  const bool is_known =
      comm.team && (comm.team->kind == core::Team::Kind::kHere || comm.team->kind == core::Team::Kind::kNode);
  return !comm.is_inter() && (world.nodes.empty() || is_known);
}

}  // namespace

void Recording::begin_use(core::Rank& rank) {
  if (!record::Book::is_open()) return;
  fiber::RankCallbacks::observer = &observer;
  fiber::CoreWatch::watch = &observer;
  control(rank, true);
}

void Recording::end_use(core::Rank& rank) {
  if (record::Book::is_open()) control(rank, false);
}

void Recording::control(core::Rank& rank, bool on) {
  if (!record::Book::is_open()) return;
  if (on) {
    record::Recorder::mine().begins_watch(fiber::rank_fiber() != nullptr);
    record::Book::watch(rank.number);
    rank.callbacks.watch();
    rank.attend(core::Rank::kRecorded);
  } else {
    rank.disregard(core::Rank::kRecorded);
    rank.callbacks.unwatch();
    record::Book::unwatch(rank.number);
  }
}

void Recording::receives(int source, MPI_Comm handle) {
  const core::Comm* const comm = self_.comm(handle);
  if (comm != nullptr && source >= 0 && source < comm->peers().size())
    recorder_.expects(comm->peers().world_rank(source));
}

void Recording::starts(std::span<const MPI_Request> requests) {
  if (requests.data() == nullptr) return;
  for (const MPI_Request handle : requests)
    if (const core::Request* const request = self_.request(handle); request != nullptr && request->persistent)
      if (const core::Request::Sending sending = request->sending(); sending.peer >= 0) {
        starting_.push_back(sending);
        starting_in_ = request->comm ? static_cast<std::uint32_t>(request->comm->context) : 0;
      }
}

void Recording::begins_collective(MPI_Comm handle) {
  core::Comm* const comm = self_.comm(handle);
  if (comm == nullptr || !meets_on_one_host(*comm)) return;
  context_ = static_cast<std::uint32_t>(comm->context);
  collective_ = (std::uint64_t{context_} << 32 | comm->next_recorded_collective()) +
                (static_cast<std::uint64_t>(comm->group->world_rank(0)) << 20);
  recorder_.begins_collective(collective_, self_.number);
}

void Recording::sent(Count count, MPI_Datatype type, int dest, int tag, MPI_Comm handle) {
  if (dest < 0) return;  // MPI_PROC_NULL
  const core::Comm& comm = *self_.comm(handle);
  out_ = {comm.peers().world_rank(dest), tag, bytes(count, type)};
  context_ = static_cast<std::uint32_t>(comm.context);
  recorder_.sent(out_);
}

void Recording::received(const MPI_Status* status, MPI_Comm handle) {
  if (status->MPI_SOURCE < 0) return;
  const core::Comm& comm = *self_.comm(handle);
  in_ = {comm.peers().world_rank(status->MPI_SOURCE), status->MPI_TAG, core::bytes_of(*status)};
  context_ = static_cast<std::uint32_t>(comm.context);
  recorder_.received(in_.bytes);
  recorder_.waited_for(in_.peer);
}

void Recording::found(const MPI_Status* status, MPI_Comm comm) {
  if (status->MPI_SOURCE >= 0) recorder_.waited_for(self_.comm(comm)->peers().world_rank(status->MPI_SOURCE));
}

void Recording::started() {
  for (const core::Request::Sending& sending : starting_)
    recorder_.sent({sending.peer, sending.tag, sending.bytes});
  if (starting_.empty()) return;
  const core::Request::Sending& one = starting_.front();
  out_ = {starting_.size() == 1 ? one.peer : record::kSeveral, one.tag, one.bytes};
  context_ = starting_in_;
}

void Recording::met_in_team(MPI_Comm comm) {
  if (is_team(*self_.comm(comm))) ends_collective();
}

void Recording::met_root(int root, MPI_Comm handle) {
  const core::Comm& comm = *self_.comm(handle);
  if (is_team(comm)) ends_collective();
  if (!comm.is_inter() && root != comm.rank) recorder_.waited_for(comm.group->world_rank(root));
}

Count Recording::bytes(Count count, MPI_Datatype handle) const {
  const datatype::Datatype* const type = self_.datatype(handle);
  return type == nullptr ? 0 : count * type->size();
}

Count Recording::bytes(Counts counts, int blocks, MPI_Datatype type) const {
  Count sum = 0;
  for (int i = 0; i < blocks; ++i) sum += counts[static_cast<std::size_t>(i)];
  return bytes(sum, type);
}

Count Recording::bytes(Counts counts, int blocks, const MPI_Datatype* types) const {
  Count sum = 0;
  for (int i = 0; i < blocks; ++i) sum += bytes(counts[static_cast<std::size_t>(i)], types[i]);
  return sum;
}

Count Recording::own_block(Counts counts, MPI_Datatype type, MPI_Comm comm) const {
  return bytes(counts[static_cast<std::size_t>(self_.comm(comm)->rank)], type);
}

bool Recording::at_root(int root, MPI_Comm handle) const {
  const core::Comm& comm = *self_.comm(handle);
  return comm.is_inter() ? root == MPI_ROOT : root == comm.rank;
}

int Recording::takers(MPI_Comm comm) const { return self_.comm(comm)->peers().size(); }

int Recording::members(MPI_Comm comm) const { return self_.comm(comm)->size(); }

int Recording::neighbours(MPI_Comm comm) const {
  return static_cast<int>(self_.comm(comm)->topology->destinations().in_order.size());
}

Count Recording::for_neighbours(Counts counts, MPI_Datatype type, MPI_Comm comm) const {
  Count sum = 0;
  for (const core::Neighbour& to : self_.comm(comm)->topology->destinations().in_order)
    sum += bytes(counts[static_cast<std::size_t>(to.block)], type);
  return sum;
}

Count Recording::for_neighbours(Counts counts, const MPI_Datatype* types, MPI_Comm comm) const {
  Count sum = 0;
  for (const core::Neighbour& to : self_.comm(comm)->topology->destinations().in_order)
    sum += bytes(counts[static_cast<std::size_t>(to.block)], types[to.block]);
  return sum;
}

}  // namespace clump::mpi
