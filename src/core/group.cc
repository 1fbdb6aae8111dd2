#include "core/group.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace clump::core {

namespace {

/// Whether list[i] == list[0] + i * (list[1] - list[0]) for all i.
bool is_regular(std::span<const int> list) {
  if (list.size() < 2) return true;
  const int stride = list[1] - list[0];
  for (std::size_t i = 2; i < list.size(); ++i)
    if (list[i] - list[i - 1] != stride) return false;
  return true;
}

}  // namespace

Group::Group(int size, int first, int stride, std::vector<int> list, Origin origin)
    : size_(size), first_(first), stride_(stride), origin_(origin), list_(std::move(list)) {
  inverse_.reserve(list_.size());
  for (int rank = 0; rank < static_cast<int>(list_.size()); ++rank) inverse_.emplace_back(list_[rank], rank);
  std::sort(inverse_.begin(), inverse_.end());
}

base::Ref<const Group> Group::regular(int size, int first, int stride, Origin origin) {
  return base::Ref<const Group>(new Group(size, first, stride, {}, origin));
}

base::Ref<const Group> Group::of(std::vector<int> world_ranks, Origin origin) {
  const int size = static_cast<int>(world_ranks.size());
  if (!is_regular(world_ranks))
    return base::Ref<const Group>(new Group(size, 0, 0, std::move(world_ranks), origin));
  const int first = size > 0 ? world_ranks[0] : 0;
  return regular(size, first, size > 1 ? world_ranks[1] - first : 1, origin);
}

base::Ref<const Group> Group::part(std::span<const int> ranks) const {
  std::vector<int> world_ranks;
  world_ranks.reserve(ranks.size());
  for (const int rank : ranks) world_ranks.push_back(world_rank(rank));
  return of(std::move(world_ranks), origin_);
}

base::Ref<const Group> Group::first(int size) const {
  if (size == size_) return base::Ref<const Group>(this);
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return part(ranks);
}

int Group::rank_of(int world_rank) const {
  if (size_ == 0) return MPI_UNDEFINED;
  if (list_.empty()) {
    const int offset = world_rank - first_;
    if (offset % stride_ != 0) return MPI_UNDEFINED;
    const int rank = offset / stride_;
    return rank >= 0 && rank < size_ ? rank : MPI_UNDEFINED;
  }
  const auto found = std::lower_bound(inverse_.begin(), inverse_.end(), std::pair{world_rank, 0});
  return found != inverse_.end() && found->first == world_rank ? found->second : MPI_UNDEFINED;
}

bool Group::same_order(const Group& other) const {
  if (this == &other) return true;
  if (size_ != other.size_) return false;
  for (int rank = 0; rank < size_; ++rank)
    if (world_rank(rank) != other.world_rank(rank)) return false;
  return true;
}

bool Group::same_members(const Group& other) const {
  if (this == &other) return true;
  if (size_ != other.size_) return false;
  for (int rank = 0; rank < size_; ++rank)
    if (other.rank_of(world_rank(rank)) == MPI_UNDEFINED) return false;
  return true;
}

}  // namespace clump::core
