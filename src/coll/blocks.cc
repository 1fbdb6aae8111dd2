#include "coll/call.h"

namespace clump::coll {

Layout Blocks::operator[](int i) const {
  if (counts_.null()) return part({base_, 0, type_}, i * step_, count_);
  if (types_ == nullptr) return part({base_, 0, type_}, displacements_[i], counts_[i]);
  return {reinterpret_cast<void*>(reinterpret_cast<std::intptr_t>(base_) + displacements_[i]), counts_[i],
          types_[i]};
}

Blocks Blocks::kept(Storage& storage, int n) const {
  if (n == 0) return {};
  if (counts_.null()) return *this;
  Blocks blocks = *this;
  for (int i = 0; i < n; ++i) {
    storage.counts.push_back(counts_[i]);
    storage.displacements.push_back(displacements_[i]);
    if (types_ != nullptr) storage.types.push_back(types_[i]);
  }
  blocks.counts_ = storage.counts.data();
  blocks.displacements_ = storage.displacements.data();
  if (types_ != nullptr) blocks.types_ = storage.types.data();
  return blocks;
}

}  // namespace clump::coll
