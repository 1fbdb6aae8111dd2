#include "coll/schedule/agree.h"

#include <vector>

#include "coll/algorithms/algorithms.h"
#include "coll/coll.h"
#include "core/rank.h"

namespace clump::coll {

namespace {

Layout ints(std::span<const int> values) {
  static const datatype::Datatype* const type = datatype::predefined(MPI_INT);
  return {const_cast<int*>(values.data()), static_cast<Count>(values.size()), type};
}

base::Status reduce_over(const Members& members, std::span<int> values, const core::Op& op) {
  const Reduction reduction{&op, MPI_INT};
  if (!members.comm.is_inter()) {
    if (!members.part)
      return run(members.comm, Call::allreduce(reduction, ints(values), ints(values)).by(members.caller));
    Schedule s(members, reduction);
    allreduce(s, ints(values), ints(values));
    return s.run();
  }
  // An allreduce brings the remote group's result, and a second one, over what both brought, the own group's.
  std::vector<int> remote(values.size());
  std::vector<int> local(values.size());
  Schedule first(members, reduction);
  allreduce(first, ints(values), ints(remote));
  CLUMP_TRY(first.run());
  Schedule second(members, reduction);
  allreduce(second, ints(remote), ints(local));
  CLUMP_TRY(second.run());
  op.apply(remote.data(), local.data(), static_cast<Count>(local.size()), *datatype::predefined(MPI_INT),
           MPI_INT);
  std::copy(local.begin(), local.end(), values.begin());
  return {};
}

}  // namespace

base::Status allgather_ints(const Members& members, std::span<const int> mine, std::span<int> all) {
  if (!members.part) return run(members.comm, Call::allgather(ints(mine), ints(all)).by(members.caller));
  Schedule s(members);
  allgather(s, ints(mine), ints(all));
  return s.run();
}

base::Status bcast_ints(const Members& members, std::span<int> values, int root) {
  if (!members.part) return run(members.comm, Call::broadcast(ints(values), root).by(members.caller));
  Schedule s(members);
  broadcast(s, ints(values), root);
  return s.run();
}

base::Status share_ints(const Members& members, std::span<int> values) {
  if (!members.comm.is_inter()) return bcast_ints(members, values, 0);
  Schedule s(members);
  share(s, members, ints(values));
  return s.run();
}

void share(Schedule& s, const Members& members, const Layout& values) {
  if (!members.comm.is_inter()) return broadcast(s, values, 0);
  const bool first = is_first_group(members.comm);
  const int role = members.rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  broadcast(s, values, first ? role : 0);
  s.next();
  broadcast(s, values, first ? 0 : role);
}

bool is_first_group(const core::Comm& comm) {
  return !comm.is_inter() ||
         comm.owner.world.is_before(comm.group->world_rank(0), comm.remote_group->world_rank(0));
}

base::Status agree_max(const Members& members, std::span<int> values) {
  static const auto& op = *new core::Op(MPI_MAX);
  return reduce_over(members, values, op);
}

base::Status agree_min(const Members& members, std::span<int> values) {
  static const auto& op = *new core::Op(MPI_MIN);
  return reduce_over(members, values, op);
}

base::Status agree_and(const Members& members, std::span<int> values) {
  static const auto& op = *new core::Op(MPI_BAND);
  return reduce_over(members, values, op);
}

base::Status synchronize(const Members& members) {
  if (!members.part) return run(members.comm, Call::barrier().by(members.caller));
  Schedule s(members);
  barrier(s);
  return s.run();
}

}  // namespace clump::coll
