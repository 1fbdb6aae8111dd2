// Groups: ordered sets of ranks (MPI-5.0 section 7.2).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "base/types.h"

namespace clump::core {

/// What an object derives from: the World model (MPI_Init), or one of the sessions of its rank. Objects of
/// one origin end together, and are not to be mixed with those of another (MPI-5.0 section 11.3).
enum class Origin : std::uint32_t { kWorld };

/// An immutable map from ranks 0..size-1 to ranks in the job (MPI_COMM_WORLD).
///
/// Regular maps take constant space: strided ones, rank i being first + i * stride, and blocks of these: the
/// halves and quarters of a job, the rows and columns of a grid, every node's first four ranks. Others take
/// four bytes for each rank, eight if they are not in rising order.
class Group final : public base::RefCounted {
 public:
  /// Ranks first, first + stride, ... (stride may be negative; size 0 is the empty group).
  static base::Ref<const Group> regular(int size, int first = 0, int stride = 1,
                                        Origin origin = Origin::kWorld);
  /// Any map; becomes a regular one where it is one. No rank may stand twice.
  static base::Ref<const Group> of(std::span<const int> world_ranks, Origin origin);
  /// The ranks with these numbers in this group, in this order; of the same origin.
  base::Ref<const Group> part(std::span<const int> ranks) const;
  /// Its first `size` ranks; of the same origin.
  base::Ref<const Group> first(int size) const;

  Origin origin() const { return origin_; }
  int size() const { return size_; }
  /// 0 <= rank < size().
  int world_rank(int rank) const {
    if (kind_ == Kind::kStrided) [[likely]]
      return first_ + rank * stride_;
    return kind_ == Kind::kListed ? list_[static_cast<std::size_t>(rank)] : in_blocks(rank);
  }
  /// For messages: "rank 1", with its number in the job if that is another one.
  std::string name_of(int rank) const;
  /// All of them.
  std::vector<int> world_ranks() const;
  /// The rank of a rank of the job, or MPI_UNDEFINED.
  int rank_of(int world_rank) const;
  bool same_order(const Group& other) const;
  bool same_members(const Group& other) const;

  /// Of the map, beside the object itself.
  std::size_t bytes() const;

 private:
  enum class Kind : std::uint8_t {
    kStrided,
    kBlocks,  ///< rank i is first + i / block * pitch + i % block * stride
    kListed,  ///< list_[i]
  };

  Group(int size, Origin origin) : size_(size), origin_(origin) {}
  bool become_blocks(std::span<const int> world_ranks);
  void become_list(std::span<const int> world_ranks);
  int in_blocks(int rank) const;
  int rank_in_blocks(int world_rank) const;
  int rank_in_list(int world_rank) const;

  int size_;
  int first_ = 0, stride_ = 1;
  int block_ = 0, pitch_ = 0;  // kBlocks
  Origin origin_;
  Kind kind_ = Kind::kStrided;
  bool rising_ = true;  // kListed: by itself an order to search in
  std::unique_ptr<int[]>
      list_;  // kListed: world ranks; if not rising, then ranks in the order of world ranks
};

}  // namespace clump::core
