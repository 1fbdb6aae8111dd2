// Making communicators and groups: what the bodies of MPI-5.0 chapter 7 share.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "coll/schedule/agree.h"
#include "core/rank.h"

namespace clump::mpi {

/// The handle of a group; MPI_GROUP_EMPTY for every empty one.
MPI_Group add_group(core::Rank& self, base::Ref<const core::Group> group);

/// The contexts of a new communicator: its own and, of an intercommunicator, the one of its local groups. The
/// two groups may have the same number there, and so may the communicators that one call makes: no rank is in
/// two of them.
struct Contexts {
  core::ContextId own{};
  core::ContextId local{};

  /// As a message.
  std::array<int, 2> as_ints() const { return {static_cast<int>(own), static_cast<int>(local)}; }
  static Contexts from_ints(std::span<const int, 2> ints) {
    return {core::ContextId{static_cast<std::uint32_t>(ints[0])},
            core::ContextId{static_cast<std::uint32_t>(ints[1])}};
  }
};

/// New contexts, if this rank is the one that proposes them to the others: rank 0 of a (local) group.
Contexts propose_contexts(const coll::Members& members, bool inter);

/// What rank 0 proposes, known to all members. Collective.
base::Status agree_contexts(const coll::Members& members, bool inter, Contexts& agreed);

/// For communicators that are made of groups alone (MPI_Comm_create_from_group): the caller has to be in
/// `group`, the argument called `name`.
base::Status check_membership(const core::Rank& self, const core::Group& group, const char* name);
/// Such calls of one rank are told apart by a string; this is its tag for messages in Rank::comm_founding.
base::Status tag_of(const char* stringtag, int& tag);

/// Whose a new communicator is, and its error handler: its parent's (MPI-5.0 section 9.3.1), if it has one.
struct Heritage {
  Heritage(const core::Comm& parent)  // NOLINT: a parent is what there is to say
      : owner(parent.owner), errhandler(parent.errhandler.get()) {}
  Heritage(core::Rank& owner, core::Errhandler& errhandler) : owner(owner), errhandler(&errhandler) {}

  core::Rank& owner;
  base::Ref<core::Errhandler> errhandler;
};

/// `remote` is null for an intracommunicator.
base::Ref<core::Comm> make_comm(const Heritage& heritage, Contexts contexts,
                                base::Ref<const core::Group> group, base::Ref<const core::Group> remote = {});

}  // namespace clump::mpi
