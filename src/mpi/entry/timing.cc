#include "mpi/entry/timing.h"

#include <utility>

namespace clump::mpi {

void begin(core::Rank& self, std::unique_ptr<coll::CollectiveRequest> operation, const Timing& timing) {
  if (timing.persistent) {
    *timing.request = self.add(std::move(operation));
    return;
  }
  operation->begin();
  // What is over already, and well, has nothing to tell; but where calls are watched, whether a request is
  // completed shall not depend on that.
  const bool over = operation->completion.done() && operation->result.error == MPI_SUCCESS &&
                    self.world.checks == core::Checks::kNone;
  *timing.request = over ? core::kCompletedRequest : self.add(std::move(operation));
}

base::Status make_request(core::Comm& comm, const coll::Call& call, const Timing& timing, Types types) {
  using Kind = coll::CollectiveRequest::Kind;
  auto operation = coll::make_request(comm, call, timing.persistent ? Kind::kPersistent : Kind::kNonblocking,
                                      timing.check != nullptr ? std::move(*timing.check) : nullptr);
  for (const datatype::Datatype* const type : types) operation->keep(*type);
  begin(comm.owner, std::move(operation), timing);
  return {};
}

}  // namespace clump::mpi
