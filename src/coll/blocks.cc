#include "coll/coll.h"

namespace clump::coll {

Layout Blocks::operator[](int i) const {
  if (counts_.null()) return part({base_, 0, type_}, i * step_, count_);
  if (types_ == nullptr) return part({base_, 0, type_}, displacements_[i], counts_[i]);
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(base_) + displacements_[i]), counts_[i],
          types_[i]};
}

}  // namespace clump::coll
