// Communicators (MPI-5.0 sections 7.4 and 7.8). The forms that also work on intercommunicators are here as
// far as one algorithm serves both; what only intercommunicators have is in intercommunicators.cc.
#include <algorithm>
#include <climits>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "coll/schedule/schedule_request.h"
#include "core/rank.h"
#include "mpi/bodies.h"
#include "mpi/entry/timing.h"
#include "mpi/hints.h"
#include "mpi/initialization.h"
#include "mpi/new_comm.h"

namespace clump::mpi {

namespace {

using core::Comm;
using core::Group;
using GroupRef = base::Ref<const Group>;

base::Status check_not_predefined(const Comm& comm) {
  const bool predefined = comm.handle == MPI_COMM_WORLD || comm.handle == MPI_COMM_SELF;
  return predefined ? base::fail(MPI_ERR_COMM, "comm is {}, which cannot be freed", comm.name.get())
                    : base::Status();
}

base::Status check_subset(const Group& part, const Group& whole) {
  if (part.size() > 0 && part.origin() != whole.origin())
    return base::fail(MPI_ERR_GROUP, "(group): comm derives from another session, or from MPI_Init");
  for (int rank = 0; rank < part.size(); ++rank)
    if (whole.rank_of(part.world_rank(rank)) == MPI_UNDEFINED)
      return base::fail(MPI_ERR_GROUP, "rank {} of group, which is rank {} of the job, is not in comm", rank,
                        part.world_rank(rank));
  return {};
}

/// MPI_Comm_create on an intercommunicator: each group tells the other who of it is in, by the place in the
/// new group.
base::Status exchange_groups(Comm& comm, const Group& group, GroupRef& remote) {
  const int place = group.rank_of(comm.owner.number);
  const Group& theirs = *comm.remote_group;
  std::vector<int> places(theirs.size());
  CLUMP_TRY(
      coll::allgather_ints(coll::Members(comm, coll::Caller::kCommCreate), std::span(&place, 1), places));
  std::vector<int> ranks(places.size() - std::count(places.begin(), places.end(), MPI_UNDEFINED));
  for (int rank = 0; rank < theirs.size(); ++rank) {
    if (places[rank] == MPI_UNDEFINED) continue;
    if (places[rank] >= static_cast<int>(ranks.size()))
      return base::fail(MPI_ERR_GROUP, "the ranks of the remote group did not all give the same group");
    ranks[places[rank]] = rank;
  }
  remote = theirs.part(ranks);
  return {};
}

/// The duplicate of `comm` without its hints.
base::Status duplicate(core::Rank& self, Comm& comm, base::Ref<Comm>& copy) {
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(comm, coll::Caller::kCommDup), comm.is_inter(), contexts));
  copy = make_comm(comm, contexts, comm.group, comm.remote_group);
  copy->topology = comm.topology;
  // The handle comes first: if a copy function fails, the attributes that were copied are deleted again, and
  // their functions need one.
  const MPI_Comm handle = self.add(copy);
  const base::Status copied = copy->attributes.copy_from(comm.handle, comm.attributes);
  if (copied.ok()) return {};
  (void)copy->attributes.clear(handle);  // the copy function's failure is the one to report
  self.remove(handle);
  return copied;
}

/// Where the request of an MPI_Comm_idup receives a context: in the new communicator itself.
datatype::Layout room_for_context(Comm& comm) {
  static_assert(sizeof comm.context == sizeof(int));
  return {&comm.context, 1, datatype::predefined(MPI_INT)};
}

/// MPI_Comm_idup: all but the contexts is there when this returns.
base::Status start_duplicate(core::Rank& self, Comm& comm, core::Info* info, MPI_Comm* newcomm,
                             MPI_Request* request) {
  *newcomm = MPI_COMM_NULL;
  CLUMP_TRY(check_hints(info));
  const coll::Members members(comm, coll::Caller::kCommDup);
  const Contexts proposed = propose_contexts(members, comm.is_inter());
  const base::Ref<Comm> copy = make_comm(comm, proposed, comm.group, comm.remote_group);
  copy->topology = comm.topology;
  give_hints(*copy, info);

  auto operation = std::make_unique<coll::ScheduleRequest>(comm, coll::Reduction(),
                                                           coll::CollectiveRequest::Kind::kNonblocking);
  operation->keep(copy);
  coll::share(operation->schedule(), members, room_for_context(*copy));
  if (copy->local) {
    operation->schedule().next();
    coll::share(operation->schedule(), members, room_for_context(*copy->local));
  }
  if (comm.crosses_jobs()) {
    operation->schedule().act([&made = *copy]() -> base::Status {
      made.claim_context();
      if (made.local) made.local->claim_context();
      return {};
    });
  }
  const MPI_Comm handle = self.add(copy);
  const base::Status copied = copy->attributes.copy_from(comm.handle, comm.attributes);
  if (copied.ok()) {
    *newcomm = handle;
    begin(self, std::move(operation), {.request = request});
    return {};
  }
  (void)copy->attributes.clear(handle);  // the copy function's failure is the one to report
  self.remove(handle);
  // The others do not know of it, and may need this rank's messages.
  coll::ScheduleRequest& going_on = *operation;
  going_on.begin();
  core::Request::detach(std::move(operation));
  return copied;
}

base::Status free_comm(core::Rank& self, MPI_Comm* handle) {
  Comm& comm = *self.comm(*handle);
  CLUMP_TRY(comm.attributes.clear(*handle));
  self.remove(*handle);  // operations that are still going on hold references of their own
  *handle = MPI_COMM_NULL;
  return {};
}

}  // namespace

base::Status comm_size(core::Rank&, Comm& comm, int* size) {
  *size = comm.size();
  return {};
}

base::Status comm_rank(core::Rank&, Comm& comm, int* rank) {
  *rank = comm.rank;
  return {};
}

base::Status comm_compare(core::Rank&, Comm& comm1, Comm& comm2, int* result) {
  const auto alike = [&](auto same) {
    if (comm1.is_inter() != comm2.is_inter()) return false;
    return same(*comm1.group, *comm2.group) &&
           (!comm1.is_inter() || same(*comm1.remote_group, *comm2.remote_group));
  };
  if (&comm1 == &comm2)
    *result = MPI_IDENT;
  else if (alike([](const Group& a, const Group& b) { return a.same_order(b); }))
    *result = MPI_CONGRUENT;
  else
    *result =
        alike([](const Group& a, const Group& b) { return a.same_members(b); }) ? MPI_SIMILAR : MPI_UNEQUAL;
  return {};
}

base::Status comm_dup(core::Rank& self, Comm& comm, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  base::Ref<Comm> copy;
  CLUMP_TRY(duplicate(self, comm, copy));
  *newcomm = copy->handle;
  return {};
}

base::Status comm_dup_with_info(core::Rank& self, Comm& comm, core::Info* info, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  CLUMP_TRY(check_hints(info));
  base::Ref<Comm> copy;
  CLUMP_TRY(duplicate(self, comm, copy));
  give_hints(*copy, info);
  *newcomm = copy->handle;
  return {};
}

base::Status comm_idup(core::Rank& self, Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  return start_duplicate(self, comm, nullptr, newcomm, request);
}

base::Status comm_idup_with_info(core::Rank& self, Comm& comm, core::Info* info, MPI_Comm* newcomm,
                                 MPI_Request* request) {
  return start_duplicate(self, comm, info, newcomm, request);
}

base::Status comm_create(core::Rank& self, Comm& comm, const Group& group, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  CLUMP_TRY(check_subset(group, *comm.group));
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(comm, coll::Caller::kCommCreate), comm.is_inter(), contexts));
  GroupRef remote;
  if (comm.is_inter()) CLUMP_TRY(exchange_groups(comm, group, remote));
  if (group.rank_of(self.number) == MPI_UNDEFINED || (remote && remote->size() == 0)) return {};
  *newcomm = self.add(make_comm(comm, contexts, GroupRef(&group), std::move(remote)));
  return {};
}

base::Status comm_create_group(core::Rank& self, Comm& comm, const Group& group, int tag, MPI_Comm* newcomm) {
  CLUMP_TRY(check_subset(group, *comm.group));
  *newcomm = MPI_COMM_NULL;
  if (group.rank_of(self.number) == MPI_UNDEFINED) return {};
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(comm, group, tag), false, contexts));
  *newcomm = self.add(make_comm(comm, contexts, GroupRef(&group)));
  return {};
}

base::Status comm_create_from_group(core::Rank& self, const Group& group, const char* stringtag,
                                    core::Info* info, core::Errhandler& errhandler, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (group.size() == 0) return {};
  CLUMP_TRY(check_membership(self, group, "group"));
  CLUMP_TRY(check_hints(info));
  int tag = 0;
  CLUMP_TRY(tag_of(stringtag, tag));
  Contexts contexts;
  CLUMP_TRY(agree_contexts(coll::Members(*self.comm_founding, group, tag), false, contexts));
  auto comm = make_comm({self, errhandler}, contexts, GroupRef(&group));
  give_hints(*comm, info);
  *newcomm = self.add(std::move(comm));
  return {};
}

base::Status comm_free(core::Rank& self, MPI_Comm* comm) {
  CLUMP_TRY(check_not_predefined(*self.comm(*comm)));
  return free_comm(self, comm);
}

base::Status comm_disconnect(core::Rank& self, MPI_Comm* comm) {
  Comm& object = *self.comm(*comm);
  CLUMP_TRY(check_not_predefined(object));
  CLUMP_TRY(coll::synchronize(coll::Members(object, coll::Caller::kCommDisconnect)));
  return free_comm(self, comm);
}

base::Status comm_set_name(core::Rank&, Comm& comm, const char* comm_name) {
  comm.name.set(std::string(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1)));
  return {};
}

base::Status comm_get_name(core::Rank& self, MPI_Comm comm, char* comm_name, int* resultlen) {
  // The null handle has a name, too (MPI-5.0 section 7.8).
  const Comm* const object = self.comm(comm);
  if (object == nullptr && comm != MPI_COMM_NULL)
    return base::fail(MPI_ERR_COMM, "comm is not a communicator");
  const std::string name = object != nullptr ? object->name.get() : "MPI_COMM_NULL";
  std::memcpy(comm_name, name.data(), name.size());
  comm_name[name.size()] = '\0';
  *resultlen = static_cast<int>(name.size());
  return {};
}

base::Status comm_get_parent(core::Rank& self, MPI_Comm* parent) {
  core::Rank::Parent& known = self.parent;
  const std::lock_guard lock(known.mutex);
  if (known.comm) {
    known.context = known.comm->context;
    known.handle = self.add(std::move(known.comm));
  }
  // The handle may have been freed since (MPI_Comm_disconnect), and its number given to another communicator.
  const Comm* const object = known.handle != MPI_COMM_NULL ? self.comm(known.handle) : nullptr;
  *parent = object != nullptr && object->context == known.context ? known.handle : MPI_COMM_NULL;
  return {};
}

base::Status comm_set_info(core::Rank&, Comm& comm, core::Info& info) {
  CLUMP_TRY(check_hints(&info));
  give_hints(comm, &info);
  return {};
}

base::Status comm_get_info(core::Rank& self, Comm& comm, MPI_Info* info_used) {
  auto copy = std::make_unique<core::Info>();
  copy->set_all(comm.info);
  copy->set("mpi_memory_alloc_kinds", kMemoryKinds);
  *info_used = self.add(std::move(copy));
  return {};
}

}  // namespace clump::mpi
