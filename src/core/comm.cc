#include "core/comm.h"

#include <utility>

#include "core/rank.h"

namespace clump::core {

Comm::Comm(Rank& owner, ContextId context, base::Ref<const Group> local, base::Ref<const Group> remote)
    : owner(owner),
      context(context),
      group(std::move(local)),
      remote_group(std::move(remote)),
      rank(group->rank_of(owner.number)),
      peers_(remote_group ? *remote_group : *group) {}

}  // namespace clump::core
