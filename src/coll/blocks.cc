#include "coll/coll.h"

namespace clump::coll {

Layout Blocks::operator[](int rank) const {
  if (counts_.null()) return part({base_, 0, type_}, rank * count_, count_);
  if (types_ == nullptr) return part({base_, 0, type_}, displacements_[rank], counts_[rank]);
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(base_) + displacements_[rank]),
          counts_[rank], types_[rank]};
}

}  // namespace clump::coll
