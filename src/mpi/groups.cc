// Groups (MPI-5.0 section 7.3). A group is made without communication: these are maps of numbers.
#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/new_comm.h"

namespace clump::mpi {

namespace {

using core::Group;
using GroupRef = base::Ref<const Group>;

/// Those ranks of `group` that `keep` wants, in the group's order.
template <typename Keep>
GroupRef filter(const Group& group, Keep keep) {
  std::vector<int> kept;
  for (int rank = 0; rank < group.size(); ++rank)
    if (keep(rank)) kept.push_back(rank);
  return group.part(kept);
}

/// All must be ranks of `group`, each at most once. `name` is the argument's.
base::Status check_ranks(const Group& group, std::span<const int> ranks, const char* name) {
  std::vector<bool> seen(group.size());
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const int rank = ranks[i];
    if (rank < 0 || rank >= group.size())
      return base::fail(MPI_ERR_RANK, "{}[{}] is {}, but the group has {} ranks", name, i, rank,
                        group.size());
    if (seen[rank])
      return base::fail(MPI_ERR_RANK, "{}[{}] is {}, which stands there already", name, i, rank);
    seen[rank] = true;
  }
  return {};
}

GroupRef exclude(const Group& group, std::span<const int> ranks) {
  std::vector<bool> unwanted(group.size());
  for (const int rank : ranks) unwanted[rank] = true;
  return filter(group, [&](int rank) { return !unwanted[rank]; });
}

/// The ranks that (first, last, stride) triplets stand for. Bounds are checked here, because a wrong triplet
/// may be very long.
base::Status expand(const Group& group, int n, const int (*ranges)[3], std::vector<int>& ranks) {
  for (int i = 0; i < n; ++i) {
    const std::int64_t first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0) return base::fail(MPI_ERR_ARG, "ranges[{}] has the stride 0", i);
    if ((stride > 0 && first > last) || (stride < 0 && first < last)) continue;  // an empty range
    const std::int64_t end = first + (last - first) / stride * stride;
    for (const std::int64_t bound : {first, end})
      if (bound < 0 || bound >= group.size())
        return base::fail(MPI_ERR_RANK, "ranges[{}] has the rank {}, but the group has {} ranks", i, bound,
                          group.size());
    for (std::int64_t rank = first; rank != end + stride; rank += stride)
      ranks.push_back(static_cast<int>(rank));
  }
  return check_ranks(group, ranks, "the list of ranks in ranges");
}

/// What a group made of these two derives from (MPI-5.0 section 11.3). The empty group is everybody's.
base::Status common_origin(const Group& group1, const Group& group2, core::Origin& origin) {
  origin = group1.size() > 0 ? group1.origin() : group2.origin();
  if (group1.size() == 0 || group2.size() == 0 || group2.origin() == origin) return {};
  return base::fail(MPI_ERR_GROUP, "(group2): group1 derives from another session, or from MPI_Init");
}

base::Status give(core::Rank& self, GroupRef group, MPI_Group* handle) {
  *handle = add_group(self, std::move(group));
  return {};
}

}  // namespace

MPI_Group add_group(core::Rank& self, GroupRef group) {
  return group->size() == 0 ? MPI_GROUP_EMPTY : self.add(std::move(group));
}

base::Status comm_group(core::Rank& self, core::Comm& comm, MPI_Group* group) {
  return give(self, comm.group, group);
}

base::Status comm_remote_group(core::Rank& self, core::Comm& comm, MPI_Group* group) {
  if (!comm.is_inter())
    return base::fail(MPI_ERR_COMM, "comm has no remote group: it is an intracommunicator");
  return give(self, comm.remote_group, group);
}

base::Status group_size(core::Rank&, const Group& group, int* size) {
  *size = group.size();
  return {};
}

base::Status group_rank(core::Rank& self, const Group& group, int* rank) {
  *rank = group.rank_of(self.number);
  return {};
}

base::Status group_translate_ranks(core::Rank&, const Group& group1, int n, const int ranks1[],
                                   const Group& group2, int ranks2[]) {
  for (int i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank != MPI_PROC_NULL && (rank < 0 || rank >= group1.size()))
      return base::fail(MPI_ERR_RANK, "ranks1[{}] is {}, but group1 has {} ranks", i, rank, group1.size());
    ranks2[i] = rank == MPI_PROC_NULL ? MPI_PROC_NULL : group2.rank_of(group1.world_rank(rank));
  }
  return {};
}

base::Status group_compare(core::Rank&, const Group& group1, const Group& group2, int* result) {
  *result = group1.same_order(group2) ? MPI_IDENT : group1.same_members(group2) ? MPI_SIMILAR : MPI_UNEQUAL;
  return {};
}

base::Status group_union(core::Rank& self, const Group& group1, const Group& group2, MPI_Group* newgroup) {
  core::Origin origin{};
  CLUMP_TRY(common_origin(group1, group2, origin));
  std::vector<int> all = group1.world_ranks();
  for (int rank = 0; rank < group2.size(); ++rank)
    if (const int world = group2.world_rank(rank); group1.rank_of(world) == MPI_UNDEFINED)
      all.push_back(world);
  return give(self, Group::of(all, origin), newgroup);
}

base::Status group_intersection(core::Rank& self, const Group& group1, const Group& group2,
                                MPI_Group* newgroup) {
  core::Origin origin{};
  CLUMP_TRY(common_origin(group1, group2, origin));
  const auto in_both = [&](int rank) { return group2.rank_of(group1.world_rank(rank)) != MPI_UNDEFINED; };
  return give(self, filter(group1, in_both), newgroup);
}

base::Status group_difference(core::Rank& self, const Group& group1, const Group& group2,
                              MPI_Group* newgroup) {
  core::Origin origin{};
  CLUMP_TRY(common_origin(group1, group2, origin));
  const auto not_in_second = [&](int rank) {
    return group2.rank_of(group1.world_rank(rank)) == MPI_UNDEFINED;
  };
  return give(self, filter(group1, not_in_second), newgroup);
}

base::Status group_incl(core::Rank& self, const Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  const std::span list(ranks, n);
  CLUMP_TRY(check_ranks(group, list, "ranks"));
  return give(self, group.part(list), newgroup);
}

base::Status group_excl(core::Rank& self, const Group& group, int n, const int ranks[], MPI_Group* newgroup) {
  const std::span list(ranks, n);
  CLUMP_TRY(check_ranks(group, list, "ranks"));
  return give(self, exclude(group, list), newgroup);
}

base::Status group_range_incl(core::Rank& self, const Group& group, int n, int ranges[][3],
                              MPI_Group* newgroup) {
  std::vector<int> ranks;
  CLUMP_TRY(expand(group, n, ranges, ranks));
  return give(self, group.part(ranks), newgroup);
}

base::Status group_range_excl(core::Rank& self, const Group& group, int n, int ranges[][3],
                              MPI_Group* newgroup) {
  std::vector<int> ranks;
  CLUMP_TRY(expand(group, n, ranges, ranks));
  return give(self, exclude(group, ranks), newgroup);
}

base::Status group_free(core::Rank& self, MPI_Group* group) {
  // Operations give out MPI_GROUP_EMPTY as their result, so the user may free it like any other result.
  if (*group != MPI_GROUP_EMPTY) self.remove(*group);
  *group = MPI_GROUP_NULL;
  return {};
}

}  // namespace clump::mpi
