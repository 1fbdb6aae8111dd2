// Groups: ordered sets of ranks (MPI-5.0 section 7.2).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/ref.h"
#include "base/types.h"

namespace clump::core {

/// What an object derives from: the World model (MPI_Init), or one of the sessions of its rank. Objects of
/// one origin end together, and are not to be mixed with those of another (MPI-5.0 section 11.3).
enum class Origin : std::uint32_t { kWorld };

/// An immutable map from ranks 0..size-1 to ranks in the job (MPI_COMM_WORLD). Regular maps (first + i *
/// stride) take constant space.
class Group final : public base::RefCounted {
 public:
  /// Ranks first, first + stride, ... (stride may be negative; size 0 is the empty group).
  static base::Ref<const Group> regular(int size, int first = 0, int stride = 1,
                                        Origin origin = Origin::kWorld);
  /// Any map; becomes a regular one where it is one. No rank may stand twice.
  static base::Ref<const Group> of(std::vector<int> world_ranks, Origin origin);
  /// The ranks with these numbers in this group, in this order; of the same origin.
  base::Ref<const Group> part(std::span<const int> ranks) const;
  /// Its first `size` ranks; of the same origin.
  base::Ref<const Group> first(int size) const;

  Origin origin() const { return origin_; }

  int size() const { return size_; }
  /// 0 <= rank < size().
  int world_rank(int rank) const { return list_.empty() ? first_ + rank * stride_ : list_[rank]; }
  /// The rank of a rank of the job, or MPI_UNDEFINED.
  int rank_of(int world_rank) const;
  bool same_order(const Group& other) const;
  bool same_members(const Group& other) const;

  Group(int size, int first, int stride, std::vector<int> list, Origin origin);

 private:
  int size_, first_, stride_;
  Origin origin_;
  std::vector<int> list_;                     // empty where the map is regular
  std::vector<std::pair<int, int>> inverse_;  // (world rank, rank), sorted; empty where the map is regular
};

}  // namespace clump::core
