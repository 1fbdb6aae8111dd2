#include "mpi/check/checked_requests.h"

#include "coll/schedule/collective_request.h"

namespace clump::mpi::checked {

using core::Rank;
using core::Request;

void note_waited_for(const Rank& self, std::span<const MPI_Request> handles) {
  for (const MPI_Request handle : handles) {
    Request* const request = handle == MPI_REQUEST_NULL ? nullptr : self.request(handle);
    if (request != nullptr && request->persistent && !request->was_started) request->was_waited_for = true;
  }
}

void look_at_freed(Rank& self, Request& request) {
  const bool is_active = request.state == Request::State::kActive;
  if (request.persistent && request.was_waited_for && !request.was_started)
    self.sites->remark(never_started(self, request));
  if (is_active && dynamic_cast<const coll::CollectiveRequest*>(&request) != nullptr)
    self.remark(
        core::Remark::Kind::kUncommon,
        "frees the request of a collective operation, if only when it is complete; the standard has it "
        "completed (MPI-5.0 section 6.12)");
  // Nothing else will ask.
  if (is_active && request.kind == Request::Kind::kChecked && request.completion.done()) request.ask(false);
}

core::Remark never_started(const Rank& self, const Request& request) {
  const core::Site made = self.sites->find(core::Sites::Kind::kRequest, core::value_of(request.handle));
  return {core::Remark::Kind::kAllowed,
          fmt::format("waited for the request of {}{} and never started it",
                      made.call != nullptr ? made.call : "a call", self.world.at(made))};
}

}  // namespace clump::mpi::checked
