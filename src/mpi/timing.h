// How a collective operation was called: a body serves its blocking, its non-blocking and its persistent
// form (gen/README.md, `timed`), and says in the same way for all of them which steps there are.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "coll/schedule/schedule_request.h"
#include "coll/shared/request.h"
#include "core/rank.h"

namespace clump::mpi {

struct Timing {
  MPI_Request* request = nullptr;  ///< null: blocking
  bool persistent = false;
  /// What is to be done before the operation, if there is something (checked.h). Null: it blocks.
  std::unique_ptr<coll::Check>* check = nullptr;

  bool blocking() const { return request == nullptr; }
};

using Types = std::initializer_list<const datatype::Datatype*>;

/// What an operation that outlives its call uses, besides its communicator. A view: lives as long as the
/// call.
struct Uses {
  std::span<const datatype::Datatype* const> types;
  coll::Reduction reduction;

  Uses() = default;
  Uses(Types types, const coll::Reduction& reduction = {}) : types(types), reduction(reduction) {}  // NOLINT
  Uses(const std::vector<const datatype::Datatype*>& types) : types(types) {}                       // NOLINT
};

/// Starts or keeps an operation of which everything is known, and gives the user its request.
void begin(core::Rank& self, std::unique_ptr<coll::CollectiveRequest> operation, const Timing& timing);

/// Runs, starts or keeps what `write` writes into a schedule, or what it proposes to the team, if that does
/// it. All ranks get here in the same order.
template <typename Write>
base::Status run(core::Comm& comm, const Timing& timing, const Uses& uses, const Write& write) {
  if (timing.blocking()) {
    coll::Schedule schedule(comm, uses.reduction);
    write(schedule);
    return schedule.run();
  }
  using Kind = coll::CollectiveRequest::Kind;
  const Kind kind = timing.persistent ? Kind::kPersistent : Kind::kNonblocking;
  const auto begin = [&](auto operation) {
    for (const datatype::Datatype* const type : uses.types) operation->keep(*type);
    mpi::begin(comm.owner, std::move(operation), timing);
    return base::Status();
  };
  const bool is_checked = timing.check != nullptr && *timing.check != nullptr;
  if (coll::RequestBuilder proposal(comm, uses.reduction, kind); !is_checked && write(proposal))
    return begin(proposal.take());
  auto operation = std::make_unique<coll::Operation>(comm, uses.reduction, kind);
  if (is_checked) operation->check_first(std::move(*timing.check));
  write(operation->schedule());
  return begin(std::move(operation));
}

}  // namespace clump::mpi
