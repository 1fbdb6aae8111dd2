#include "mpi/new_comm.h"

#include <utility>

namespace clump::mpi {

Contexts propose_contexts(const coll::Members& members, bool inter) {
  if (members.rank != 0) return {};
  core::World& world = members.comm.owner.world;
  Contexts proposed;
  proposed.own = world.allocate_context();
  if (inter) proposed.local = world.allocate_context();
  return proposed;
}

base::Status agree_contexts(const coll::Members& members, bool inter, Contexts& agreed) {
  std::array<int, 2> shared = propose_contexts(members, inter).as_ints();
  CLUMP_TRY(coll::share_ints(members, shared));
  agreed = Contexts::from_ints(shared);
  return {};
}

base::Ref<core::Comm> make_comm(const core::Comm& parent, Contexts contexts,
                                base::Ref<const core::Group> group, base::Ref<const core::Group> remote) {
  auto comm = base::make_ref<core::Comm>(parent.owner, contexts.own, group, remote);
  comm->set_errhandler(parent.errhandler());
  if (remote) {
    comm->local = base::make_ref<core::Comm>(parent.owner, contexts.local, std::move(group),
                                             base::Ref<const core::Group>());
    comm->local->set_errhandler(parent.errhandler());
  }
  return comm;
}

}  // namespace clump::mpi
