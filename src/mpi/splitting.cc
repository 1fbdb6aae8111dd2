// MPI_Comm_split and MPI_Comm_split_type (MPI-5.0 section 7.4.2).
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/process_sets.h"
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/new_comm.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

namespace {

using core::Comm;
using core::Group;
using GroupRef = base::Ref<const Group>;
using Resource = core::World::Resource;

/// What every rank says in a split: colour, key, and a proposal of contexts (rank 0's counts).
using Vote = std::array<int, 4>;

/// Those who voted for `color`, ordered by key, then by rank in `group`.
GroupRef voters(const Group& group, const std::vector<int>& votes, int color) {
  std::vector<std::pair<int, int>> chosen;  // key, rank
  for (int rank = 0; rank < group.size(); ++rank) {
    const int* vote = &votes[rank * std::tuple_size_v<Vote>];
    if (vote[0] == color) chosen.emplace_back(vote[1], rank);
  }
  std::sort(chosen.begin(), chosen.end());
  std::vector<int> ranks;
  ranks.reserve(chosen.size());
  for (const auto& [key, rank] : chosen) ranks.push_back(rank);
  return group.part(ranks);
}

base::Status gather_votes(Comm& comm, const Vote& mine, int voters, std::vector<int>& votes) {
  votes.resize(static_cast<std::size_t>(voters) * mine.size());
  return coll::allgather_ints(coll::Members(comm, coll::Caller::kCommSplit), mine, votes);
}

/// MPI_Comm_split with colours that were checked. All ranks of comm take part, also those with MPI_UNDEFINED.
base::Status split(core::Rank& self, Comm& comm, int color, int key, MPI_Comm* newcomm) {
  const auto proposal =
      propose_contexts(coll::Members(comm, coll::Caller::kCommSplit), comm.is_inter()).as_ints();
  const Vote mine = {color, key, proposal[0], proposal[1]};
  std::vector<int> votes, remote_votes;
  CLUMP_TRY(gather_votes(comm.is_inter() ? *comm.local : comm, mine, comm.size(), votes));
  if (comm.is_inter()) CLUMP_TRY(gather_votes(comm, mine, comm.remote_group->size(), remote_votes));

  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return {};
  GroupRef group = voters(*comm.group, votes, color), remote;
  if (comm.is_inter()) {
    remote = voters(*comm.remote_group, remote_votes, color);
    if (remote->size() == 0) return {};  // nobody to talk to (MPI-5.0 section 7.4.2)
  }
  const std::vector<int>& proposals = coll::is_first_group(comm) ? votes : remote_votes;
  const auto contexts = Contexts::from_ints(std::span<const int, 2>(&proposals[2], 2));
  *newcomm = self.add(make_comm(comm, contexts, std::move(group), std::move(remote)));
  return {};
}

/// Of MPI_COMM_TYPE_SHARED: a host has memory that its processes can share.
/// Ranks of different jobs have none in common.
int shared_memory_color(const core::Rank& self, const Comm& comm) {
  const int node = self.world.node_of(self.number);
  if (!comm.crosses_jobs()) return node;
  return static_cast<int>((self.world.link->name_of(self.number).job.id + static_cast<std::uint64_t>(node)) &
                          0x3fffffff);
}

/// The colour of the caller where ranks that use the same instance of `resource` belong together.
int color_of(const core::Rank& self, const Resource& resource) {
  const int instance = resource.instances[static_cast<std::size_t>(self.number)];
  return instance < 0 ? MPI_UNDEFINED : instance;
}

/// The resource that a program names; null if there is none of that name.
const Resource* find_resource(const core::World& world, const std::string& name) {
  const auto found = std::find_if(world.resources.begin(), world.resources.end(),
                                  [&](const Resource& one) { return one.name == name; });
  return found != world.resources.end() ? &*found : nullptr;
}

int color_by_name(const core::Rank& self, const Comm& comm, const std::string& resource) {
  if (resource == "mpi_shared_memory") return shared_memory_color(self, comm);
  const Resource* const found = find_resource(self.world, resource);
  return found != nullptr ? color_of(self, *found) : MPI_UNDEFINED;
}

/// The first resource, from the machine inwards, that tells ranks of `comm`, on both sides, apart; null if
/// none does.
const Resource* dividing_resource(const core::World& world, const Comm& comm) {
  if (comm.crosses_jobs()) return nullptr;  // nobody knows where ranks of other jobs are
  for (const Resource& resource : world.resources) {
    const auto instance = [&](const Group& group, int rank) {
      return resource.instances[static_cast<std::size_t>(group.world_rank(rank))];
    };
    const int first = instance(*comm.group, 0);
    for (const Group* group : {comm.group.get(), comm.remote_group.get()})
      for (int rank = 0; group != nullptr && rank < group->size(); ++rank)
        if (instance(*group, rank) != first) return &resource;
  }
  return nullptr;
}

/// MPI_COMM_TYPE_HW_UNGUIDED: both the new communicator and the info object that the user gave say by what.
base::Status split_by_hardware(core::Rank& self, Comm& comm, int key, core::Info* info, MPI_Comm* newcomm) {
  const Resource* const resource = dividing_resource(self.world, comm);
  const int color = resource != nullptr ? color_of(self, *resource) : MPI_UNDEFINED;
  CLUMP_TRY(split(self, comm, color, key, newcomm));
  if (*newcomm == MPI_COMM_NULL) return {};
  self.comm(*newcomm)->info.set("mpi_hw_resource_type", resource->name);
  if (info != nullptr) info->set("mpi_hw_resource_type", resource->name);
  return {};
}

/// Ranks that name the same process set, and are in it, get the same colour, which no other set has: the kind
/// of the set and its first rank in the job.
int color_of_set(const core::Rank& self, const std::string& name) {
  const std::vector<std::string> sets = core::process_sets_of(self);
  const auto found = std::find_if(sets.begin(), sets.end(),
                                  [&](const std::string& set) { return core::names_process_set(name, set); });
  if (found == sets.end()) return MPI_UNDEFINED;
  const GroupRef set = core::process_set(self, name, core::Origin::kWorld);
  return static_cast<int>(found - sets.begin()) * self.world.places() + set->world_rank(0);
}

/// What the info object of MPI_COMM_TYPE_RESOURCE_GUIDED says: one of two things.
int color_by_info(const core::Rank& self, const Comm& comm, const core::Info* info) {
  if (info == nullptr) return MPI_UNDEFINED;
  const auto resource = info->get("mpi_hw_resource_type"), set = info->get("mpi_pset_name");
  if (resource.has_value() == set.has_value()) return MPI_UNDEFINED;
  return resource ? color_by_name(self, comm, *resource) : color_of_set(self, *set);
}

}  // namespace

base::Status comm_split(core::Rank& self, Comm& comm, int color, int key, MPI_Comm* newcomm) {
  if (color < 0 && color != MPI_UNDEFINED)
    return base::fail(MPI_ERR_ARG, "color is {}; it must be 0 or more, or MPI_UNDEFINED", color);
  return split(self, comm, color, key, newcomm);
}

base::Status comm_split_type(core::Rank& self, Comm& comm, int split_type, int key, core::Info* info,
                             MPI_Comm* newcomm) {
  switch (split_type) {
    case MPI_COMM_TYPE_SHARED:
      return split(self, comm, shared_memory_color(self, comm), key, newcomm);
    case MPI_COMM_TYPE_HW_GUIDED: {
      const auto name = info != nullptr ? info->get("mpi_hw_resource_type") : std::nullopt;
      return split(self, comm, name ? color_by_name(self, comm, *name) : MPI_UNDEFINED, key, newcomm);
    }
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      return split(self, comm, color_by_info(self, comm, info), key, newcomm);
    case MPI_COMM_TYPE_HW_UNGUIDED:
      return split_by_hardware(self, comm, key, info, newcomm);
    case MPI_UNDEFINED:
      return split(self, comm, MPI_UNDEFINED, key, newcomm);
    default:
      return base::fail(MPI_ERR_ARG, "split_type is {}, which is none of the MPI_COMM_TYPE_ constants",
                        split_type);
  }
}

}  // namespace clump::mpi
