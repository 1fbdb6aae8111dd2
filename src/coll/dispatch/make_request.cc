// Which engine does a non-blocking or persistent collective: the team of the communicator, or messages.
#include <utility>

#include "coll/algorithms/registry.h"
#include "coll/coll.h"
#include "coll/schedule/schedule_request.h"
#include "coll/shared/request.h"

namespace clump::coll {

std::unique_ptr<CollectiveRequest> make_request(core::Comm& comm, const Call& call,
                                                CollectiveRequest::Kind kind, std::unique_ptr<Check> check) {
  if (check == nullptr)
    if (auto request = TeamRequest::make(comm, call, kind)) return request;
  auto request = std::make_unique<ScheduleRequest>(
      comm, call.reduction != nullptr ? *call.reduction : Reduction(), kind);
  if (call.reduction != nullptr) request->will_combine(*call.reduction->op, *call.send.type);
  if (check != nullptr) request->check_first(std::move(check));
  write(request->schedule(), call);
  return request;
}

}  // namespace clump::coll
