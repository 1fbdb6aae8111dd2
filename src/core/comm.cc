#include "core/comm.h"

#include <mutex>
#include <utility>

#include "core/rank.h"
#include "net/link/link_channel.h"

namespace clump::core {

Comm::Comm(Rank& owner, ContextId context, base::Ref<const Group> local, base::Ref<const Group> remote)
    : context(context),
      owner(owner),
      group(std::move(local)),
      remote_group(std::move(remote)),
      rank(group->rank_of(owner.number)),
      peers_(remote_group ? *remote_group : *group) {
  const net::LinkChannel* const link = owner.world.link.get();
  // Rank::comm_job has all numbers, and keeps none.
  if (link != nullptr && link->has_places() && owner.comm_job) hold_places();
  claim_context();
}

bool Comm::has_whole_world() const {
  const Comm* const world = owner.comm_world.get();
  return world != nullptr && !is_inter() && group->same_members(*world->group);
}

void Comm::claim_context() {
  if (!World::is_crossing(context)) return;
  {
    const std::lock_guard lock(owner.crossing.mutex);
    if (owner.crossing.comms.try_emplace(context, this).first->second == this) return;
  }
  owner.world.abort_job(owner.number, MPI_ERR_OTHER,
                        "two communicators with ranks of other jobs have the same number, which jobs on "
                        "different hosts have drawn at random: start the jobs again");
}

ContextId Comm::new_context() const {
  return crosses_jobs() ? owner.world.allocate_crossing_context() : owner.world.allocate_context();
}

void Comm::hold_places() {
  net::LinkChannel& link = *owner.world.link;
  for (const Group* const one : {group.get(), remote_group.get()}) {
    for (int i = 0; one != nullptr && i < one->size(); ++i) {
      if (net::HeldPlace place = link.hold(one->world_rank(i))) places_.push_back(std::move(place));
    }
  }
}

Comm::~Comm() {
  if (!World::is_crossing(context)) return;
  const std::lock_guard lock(owner.crossing.mutex);
  const auto own = owner.crossing.comms.find(context);
  if (own != owner.crossing.comms.end() && own->second == this) owner.crossing.comms.erase(own);
}

}  // namespace clump::core
