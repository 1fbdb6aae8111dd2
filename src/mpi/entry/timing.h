// How a collective operation was called: a body serves its blocking, its non-blocking and its persistent
// form (gen/README.md, `timed`), and says in the same way for all of them which steps there are.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "coll/coll.h"
#include "core/rank.h"

namespace clump::mpi {

struct Timing {
  MPI_Request* request = nullptr;  ///< null: blocking
  bool persistent = false;
  /// What is to be done before the operation, if there is something (check/checked.h). Null: it blocks.
  std::unique_ptr<coll::Check>* check = nullptr;

  bool blocking() const { return request == nullptr; }
};

/// The datatypes that an operation uses which outlives its call.
using Types = std::span<const datatype::Datatype* const>;

/// Starts a non-blocking operation, and gives the user the request, or keeps a persistent one.
void begin(core::Rank& self, std::unique_ptr<coll::CollectiveRequest> operation, const Timing& timing);

/// Makes and starts a non-blocking operation, or makes a persistent one, and gives the user its request.
base::Status make_request(core::Comm& comm, const coll::Call& call, const Timing& timing, Types types);

/// Does the operation, or makes its request, as `timing` says. All ranks get here in the same order.
inline base::Status run(core::Comm& comm, const coll::Call& call, const Timing& timing, Types types) {
  if (timing.blocking()) return coll::run(comm, call);
  return make_request(comm, call, timing, types);
}
inline base::Status run(core::Comm& comm, const coll::Call& call, const Timing& timing,
                        std::initializer_list<const datatype::Datatype*> types) {
  return run(comm, call, timing, Types(types.begin(), types.size()));
}

}  // namespace clump::mpi
