// Groups: ordered sets of ranks (MPI-5.0 section 7.2).
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/ref.h"
#include "base/types.h"
#include "net/link/held_place.h"

namespace clump::core {

/// The origin of an object: the World model (MPI_Init), or one of the sessions of its rank. Objects of one
/// origin end together, and may not be mixed with those of another (MPI-5.0 section 11.3).
enum class Origin : std::uint32_t { kWorld };

/// An immutable map from ranks 0..size-1 to ranks in the job (core/launch.h: those of the first
/// MPI_COMM_WORLD have the same numbers there). Ranks of other jobs have numbers of this process, which the
/// group keeps: they are not given to other ranks while it lives.
///
/// Regular maps take constant space. They are the strided ones, where rank i is first + i * stride, and
/// blocks of these: the halves and quarters of a job, the rows and columns of a grid, the first four ranks of
/// every node. Others take four bytes for each rank, or eight if they are not in rising order.
class Group final : public base::RefCounted {
 public:
  /// Where the numbers of ranks of other jobs come from. Set once, before there are such ranks; it lives as
  /// long as the process.
  static void keep_numbers_of(net::LinkChannel& link) { link_.store(&link, std::memory_order_release); }

  /// The ranks first, first + stride, ... (stride may be negative; size 0 is the empty group), all of this
  /// job: no number is kept.
  static base::Ref<const Group> regular(int size, int first = 0, int stride = 1,
                                        Origin origin = Origin::kWorld);
  /// The group of any list of ranks; it becomes regular if it can. No rank may stand in the list twice.
  static base::Ref<const Group> of(std::span<const int> world_ranks, Origin origin);
  /// The ranks with these numbers in this group, in this order. It has the same origin.
  base::Ref<const Group> part(std::span<const int> ranks) const;
  /// The first `size` ranks of this group. It has the same origin.
  base::Ref<const Group> first(int size) const;

  Origin origin() const { return origin_; }
  int size() const { return size_; }
  /// The rank's number in the job. 0 <= rank < size().
  int world_rank(int rank) const {
    if (kind_ == Kind::kStrided) [[likely]]
      return first_ + rank * stride_;
    return kind_ == Kind::kListed ? list_[static_cast<std::size_t>(rank)] : in_blocks(rank);
  }
  /// The name of a rank in messages for the user: "rank 1", with its rank in the caller's MPI_COMM_WORLD if
  /// that is different, or in its own job: "rank 1 (rank 0 of another job)".
  std::string name_of(int rank) const;
  /// The numbers in the job of all ranks, in the order of the group.
  std::vector<int> world_ranks() const;
  /// The rank in this group of a rank of the job, or MPI_UNDEFINED.
  int rank_of(int world_rank) const;
  bool same_order(const Group& other) const;
  bool same_members(const Group& other) const;

  /// The memory of the map, without the object itself.
  std::size_t bytes() const;

 private:
  enum class Kind : std::uint8_t {
    kStrided,
    kBlocks,  ///< rank i is first + i / block * pitch + i % block * stride
    kListed,  ///< list_[i]
  };

  Group(int size, Origin origin) : size_(size), origin_(origin) {}
  static base::Ref<Group> strided(int size, int first, int stride, Origin origin);
  static base::Ref<Group> map_of(std::span<const int> world_ranks, Origin origin);
  bool become_blocks(std::span<const int> world_ranks);
  void become_list(std::span<const int> world_ranks);
  int in_blocks(int rank) const;
  int rank_in_blocks(int world_rank) const;
  int rank_in_list(int world_rank) const;

  // Atomic, because ranks that have begun may make groups at the same time.
  static inline constinit std::atomic<net::LinkChannel*> link_{nullptr};

  int size_;
  int first_ = 0, stride_ = 1;
  int block_ = 0, pitch_ = 0;  // kBlocks
  Origin origin_;
  Kind kind_ = Kind::kStrided;
  bool rising_ = true;  // kListed: list_ itself is sorted and can be searched
  std::unique_ptr<int[]>
      list_;  // kListed: world ranks; if not rising, then ranks in the order of world ranks
  std::unique_ptr<std::vector<net::KeptNumber>> kept_;  // of its ranks of other jobs; null: it has none
};

}  // namespace clump::core
