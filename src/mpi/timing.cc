#include "mpi/timing.h"

#include <utility>

namespace clump::mpi {

void begin(core::Rank& self, std::unique_ptr<coll::Operation> operation, const Timing& timing) {
  if (timing.persistent) {
    *timing.request = self.add(std::move(operation));
    return;
  }
  operation->begin();
  // What is over already, and well, has nothing to tell.
  const bool over =
      operation->completion.done() && operation->result.error == MPI_SUCCESS && !operation->is_to_be_asked();
  *timing.request = over ? core::kCompletedRequest : self.add(std::move(operation));
}

}  // namespace clump::mpi
