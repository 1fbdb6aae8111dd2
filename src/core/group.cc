#include "core/group.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "core/rank.h"
#include "net/link/link_channel.h"

namespace clump::core {

namespace {

/// How many ranks of `list`, from the first on, have one stride.
std::size_t strided_length(std::span<const int> list) {
  if (list.size() < 3) return list.size();
  std::size_t length = 2;
  while (length < list.size() && list[length] - list[length - 1] == list[1] - list[0]) ++length;
  return length;
}

}  // namespace

base::Ref<Group> Group::strided(int size, int first, int stride, Origin origin) {
  base::Ref<Group> group(new Group(size, origin));
  group->first_ = first;
  group->stride_ = stride;
  return group;
}

base::Ref<const Group> Group::regular(int size, int first, int stride, Origin origin) {
  return strided(size, first, stride, origin);
}

base::Ref<Group> Group::map_of(std::span<const int> world_ranks, Origin origin) {
  const int size = static_cast<int>(world_ranks.size());
  const int first = size > 0 ? world_ranks[0] : 0;
  const int stride = size > 1 ? world_ranks[1] - first : 1;
  if (strided_length(world_ranks) == world_ranks.size()) return strided(size, first, stride, origin);
  base::Ref<Group> group(new Group(size, origin));
  if (!group->become_blocks(world_ranks)) group->become_list(world_ranks);
  return group;
}

base::Ref<const Group> Group::of(std::span<const int> world_ranks, Origin origin) {
  base::Ref<Group> group = map_of(world_ranks, origin);
  // acquire: pairs with the release in keep_numbers_of().
  net::LinkChannel* const link = link_.load(std::memory_order_acquire);
  if (link == nullptr || !link->has_places()) return group;
  for (const int number : world_ranks) {
    net::KeptNumber kept = link->keep(number);
    if (!kept) continue;
    if (group->kept_ == nullptr) group->kept_ = std::make_unique<std::vector<net::KeptNumber>>();
    group->kept_->push_back(std::move(kept));
  }
  return group;
}

bool Group::become_blocks(std::span<const int> world_ranks) {
  const std::size_t block = strided_length(world_ranks);
  first_ = world_ranks[0];
  stride_ = world_ranks[1] - world_ranks[0];
  block_ = static_cast<int>(block);
  pitch_ = world_ranks[block] - first_;
  for (int rank = 0; rank < size_; ++rank)
    if (world_ranks[static_cast<std::size_t>(rank)] != in_blocks(rank)) return false;
  // rank_in_blocks() needs blocks whose ranges are disjoint, or blocks that interleave completely.
  const int blocks = (size_ + block_ - 1) / block_;
  const bool apart = std::abs(pitch_) > std::abs(stride_) * (block_ - 1);
  const bool interleaved = std::abs(stride_) > std::abs(pitch_) * (blocks - 1);
  if (!apart && !interleaved) return false;
  kind_ = Kind::kBlocks;
  return true;
}

void Group::become_list(std::span<const int> world_ranks) {
  kind_ = Kind::kListed;
  rising_ = std::is_sorted(world_ranks.begin(), world_ranks.end());
  list_ = std::make_unique_for_overwrite<int[]>(world_ranks.size() * (rising_ ? 1 : 2));
  int* const order = std::copy(world_ranks.begin(), world_ranks.end(), list_.get());
  if (rising_) return;
  std::iota(order, order + size_, 0);
  std::sort(order, order + size_, [&](int a, int b) { return list_[a] < list_[b]; });
}

base::Ref<const Group> Group::part(std::span<const int> ranks) const {
  std::vector<int> chosen(ranks.size());
  std::transform(ranks.begin(), ranks.end(), chosen.begin(), [&](int rank) { return world_rank(rank); });
  return of(chosen, origin_);
}

base::Ref<const Group> Group::first(int size) const {
  if (size == size_) return base::Ref<const Group>(this);
  std::vector<int> ranks(static_cast<std::size_t>(size));
  std::iota(ranks.begin(), ranks.end(), 0);
  return part(ranks);
}

std::string Group::name_of(int rank) const {
  const int number = world_rank(rank);
  const auto is_number = [&](const net::KeptNumber& kept) { return kept.number() == number; };
  if (kept_ != nullptr && std::ranges::any_of(*kept_, is_number))
    return fmt::format("rank {} (rank {} of another job)", rank,
                       link_.load(std::memory_order_acquire)->name_of(number).rank);
  const Rank* const caller = current_rank();
  const int first = caller != nullptr ? caller->launch.first : 0;
  if (number - first == rank) return fmt::format("rank {}", rank);
  if (caller != nullptr && (number < first || number >= first + caller->launch.size))
    return fmt::format("rank {} (of another MPI_COMM_WORLD)", rank);
  return fmt::format("rank {} (rank {} of MPI_COMM_WORLD)", rank, number - first);
}

std::vector<int> Group::world_ranks() const {
  std::vector<int> all(static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank) all[static_cast<std::size_t>(rank)] = world_rank(rank);
  return all;
}

int Group::in_blocks(int rank) const { return first_ + rank / block_ * pitch_ + rank % block_ * stride_; }

int Group::rank_of(int world_rank) const {
  if (kind_ == Kind::kBlocks) return rank_in_blocks(world_rank);
  if (kind_ == Kind::kListed) return rank_in_list(world_rank);
  if (size_ == 0) return MPI_UNDEFINED;
  const int offset = world_rank - first_;
  if (offset % stride_ != 0) return MPI_UNDEFINED;
  const int rank = offset / stride_;
  return rank >= 0 && rank < size_ ? rank : MPI_UNDEFINED;
}

int Group::rank_in_blocks(int world_rank) const {
  // offset = block * pitch_ + place * stride_. The larger of the two steps is greater than all multiples of
  // the smaller one that occur, so offset is divided by the larger step first, and the rest by the smaller
  // one. The rest has the sign of the smaller step.
  const int offset = world_rank - first_;
  const bool by_pitch = std::abs(pitch_) > std::abs(stride_);
  const int large = by_pitch ? pitch_ : stride_, small = by_pitch ? stride_ : pitch_;
  int steps = offset / large, rest = offset % large;
  if (rest != 0 && (rest < 0) != (small < 0)) {
    steps += (rest < 0) == (large < 0) ? 1 : -1;
    rest = offset - steps * large;
  }
  if (rest % small != 0) return MPI_UNDEFINED;
  const int block = by_pitch ? steps : rest / small, place = by_pitch ? rest / small : steps;
  if (block < 0 || place < 0 || place >= block_ || block > size_ / block_) return MPI_UNDEFINED;
  const int rank = block * block_ + place;
  return rank < size_ ? rank : MPI_UNDEFINED;
}

int Group::rank_in_list(int world_rank) const {
  const int* const list = list_.get();
  if (rising_) {
    const int* const found = std::lower_bound(list, list + size_, world_rank);
    return found != list + size_ && *found == world_rank ? static_cast<int>(found - list) : MPI_UNDEFINED;
  }
  const int *const order = list + size_, *const end = order + size_;
  const int* const found =
      std::lower_bound(order, end, world_rank, [&](int rank, int wanted) { return list[rank] < wanted; });
  return found != end && list[*found] == world_rank ? *found : MPI_UNDEFINED;
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

std::size_t Group::bytes() const {
  return kind_ == Kind::kListed ? static_cast<std::size_t>(size_) * sizeof(int) * (rising_ ? 1 : 2) : 0;
}

}  // namespace clump::core
