#include "mpi/new_comm.h"

#include <cstring>
#include <utility>

#include "mpi/entry/entry_checks.h"

namespace clump::mpi {

Contexts propose_contexts(const coll::Members& members, bool inter) {
  if (members.rank != 0) return {};
  Contexts proposed;
  proposed.own = members.comm.new_context();
  if (inter) proposed.local = members.comm.new_context();
  return proposed;
}

base::Status agree_contexts(const coll::Members& members, bool inter, Contexts& agreed) {
  std::array<int, 2> shared = propose_contexts(members, inter).as_ints();
  CLUMP_TRY(coll::share_ints(members, shared));
  agreed = Contexts::from_ints(shared);
  return {};
}

base::Status check_membership(const core::Rank& self, const core::Group& group, const char* name) {
  if (group.rank_of(self.number) != MPI_UNDEFINED) return {};
  return base::fail(MPI_ERR_GROUP, "({}): the calling rank, which is rank {} of the job, is not in it", name,
                    self.number);
}

base::Status tag_of(const char* stringtag, int& tag) {
  const std::size_t length = strnlen(stringtag, MPI_MAX_STRINGTAG_LEN);
  if (length == MPI_MAX_STRINGTAG_LEN)
    return base::fail(
        MPI_ERR_ARG,
        "(stringtag): it has {} characters or more; with the final zero, at most {} are allowed "
        "(MPI_MAX_STRINGTAG_LEN)",
        length, MPI_MAX_STRINGTAG_LEN);
  // FNV-1a. Different strings may get the same tag: that only matters to calls which overlap in time and in
  // two ranks or more, and is less likely than one in 10^9.
  std::uint32_t hash = 2166136261u;
  for (const char* c = stringtag; *c != '\0'; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 16777619u;
  tag = static_cast<int>((hash ^ hash >> 30) & kMaxTag);
  return {};
}

base::Ref<core::Comm> make_comm(const Heritage& heritage, Contexts contexts,
                                base::Ref<const core::Group> group, base::Ref<const core::Group> remote) {
  auto comm = base::make_ref<core::Comm>(heritage.owner, contexts.own, group, remote);
  comm->errhandler.set(heritage.errhandler);
  if (remote) {
    comm->local = base::make_ref<core::Comm>(heritage.owner, contexts.local, std::move(group),
                                             base::Ref<const core::Group>());
    comm->local->errhandler.set(heritage.errhandler);
  }
  return comm;
}

}  // namespace clump::mpi
