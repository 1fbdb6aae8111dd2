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
      errhandler_(Errhandler::fatal()) {}

base::Ref<Errhandler> Comm::errhandler() const {
  const std::lock_guard lock(errhandler_mutex_);
  return errhandler_;
}

void Comm::set_errhandler(base::Ref<Errhandler> errhandler) {
  const std::lock_guard lock(errhandler_mutex_);
  std::swap(errhandler_, errhandler);  // the old one goes after the lock: it is the argument's from here on
}

}  // namespace clump::core
