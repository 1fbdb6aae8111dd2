// Making communicators and groups: what the bodies of MPI-5.0 chapter 7 share.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "coll/agree.h"
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

/// A new communicator of the owner of `parent`, with what it inherits: the error handler (MPI-5.0
/// section 9.3.1). `remote` is null for an intracommunicator.
base::Ref<core::Comm> make_comm(const core::Comm& parent, Contexts contexts,
                                base::Ref<const core::Group> group, base::Ref<const core::Group> remote = {});

}  // namespace clump::mpi
