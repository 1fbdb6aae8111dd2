#include "core/comm.h"

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
}

void Comm::hold_places() {
  net::LinkChannel& link = *owner.world.link;
  for (const Group* const one : {group.get(), remote_group.get()}) {
    for (int i = 0; one != nullptr && i < one->size(); ++i) {
      if (net::HeldPlace place = link.hold(one->world_rank(i))) places_.push_back(std::move(place));
    }
  }
}

Comm::~Comm() = default;

}  // namespace clump::core
