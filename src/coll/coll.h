// The collective operations (MPI-5.0 chapter 6): the two ways in. Arguments: call.h.
#pragma once

#include <memory>

#include "base/status.h"
#include "coll/call.h"
#include "coll/check/check.h"
#include "coll/schedule/collective_request.h"

namespace clump::coll {

/// Does the operation, and returns when the caller's part is over. By the engine that suits where the ranks
/// of the communicator are (dispatch/run.cc). Any thread of the rank, one at a time on a communicator.
base::Status run(core::Comm& comm, const Call& call);

/// Makes the request of a non-blocking or persistent operation; begin() starts it. With `check` the ranks
/// compare what they call whenever it starts, and go on if they agree. All ranks make their requests on a
/// communicator in the same order.
std::unique_ptr<CollectiveRequest> make_request(core::Comm& comm, const Call& call,
                                                CollectiveRequest::Kind kind,
                                                std::unique_ptr<Check> check = nullptr);

}  // namespace clump::coll
