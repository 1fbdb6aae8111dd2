#include "topo/placement.h"

namespace clump::topo {

base::Ref<const core::Group> place(const core::Comm& comm, int places, bool) {
  return comm.group->first(places);
}

}  // namespace clump::topo
