#include "coll/coll.h"

namespace clump::coll {

Layout Blocks::operator[](int i) const {
  if (counts_.null()) return part({base_, 0, type_}, i * step_, count_);
  if (types_ == nullptr) return part({base_, 0, type_}, displacements_[i], counts_[i]);
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(base_) + displacements_[i]), counts_[i],
          types_[i]};
}

Blocks Blocks::kept(Room& room, int n) const {
  if (n == 0) return {};
  if (counts_.null()) return *this;
  Blocks blocks = *this;
  for (int i = 0; i < n; ++i) {
    room.counts.push_back(counts_[i]);
    room.displacements.push_back(displacements_[i]);
    if (types_ != nullptr) room.types.push_back(types_[i]);
  }
  blocks.counts_ = room.counts.data();
  blocks.displacements_ = room.displacements.data();
  if (types_ != nullptr) blocks.types_ = room.types.data();
  return blocks;
}

}  // namespace clump::coll
