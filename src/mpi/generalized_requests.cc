#include "mpi/generalized_requests.h"

#include <atomic>

#include "mpi/bodies.h"
#include "mpi/entry/entry.h"

namespace clump::mpi {

using base::Status;
using core::Rank;

namespace {
/// relaxed: nothing else is told by it.
constinit std::atomic<std::uint64_t> calls_of_grequest_complete{0};
}  // namespace

std::uint64_t completed_generalized_requests() noexcept {
  return calls_of_grequest_complete.load(std::memory_order_relaxed);
}

void GeneralizedRequest::ask(bool keep) {
  MPI_Status status{};
  core::write_status(&status, {}, true);
  result.error = functions_.query(functions_.extra_state, &status);
  result.source = status.MPI_SOURCE;
  result.tag = status.MPI_TAG;
  result.bytes = core::bytes_of(status);
  result.cancelled = core::is_cancelled(status);
  if (keep) return;
  const int freed = functions_.free(functions_.extra_state);
  if (freed != MPI_SUCCESS) result.error = freed;
}

Status GeneralizedRequest::cancel() {
  return Status::from_code(functions_.cancel(functions_.extra_state, completion.done() ? 1 : 0));
}

Status GeneralizedRequest::end(Rank& self) {
  return completion.signal() ? free(self) : Status();  // else its owner may have freed it by now
}

Status GeneralizedRequest::forget(Rank& self) { return completion.abandon() ? Status() : free(self); }

Status GeneralizedRequest::free(Rank& self) {
  const std::unique_ptr<core::Request> owned = self.remove(handle);
  return Status::from_code(functions_.free(functions_.extra_state));
}

Status grequest_start(Rank& self, MPI_Grequest_query_function* query_fn, MPI_Grequest_free_function* free_fn,
                      MPI_Grequest_cancel_function* cancel_fn, void* extra_state, MPI_Request* request) {
  *request = self.add(std::make_unique<GeneralizedRequest>(
      GeneralizedRequest::Functions{query_fn, free_fn, cancel_fn, extra_state}));
  return {};
}

Status grequest_complete(Rank& self, MPI_Request request) {
  core::Request* const operation = request == MPI_REQUEST_NULL ? nullptr : self.request(request);
  Status outcome;
  if (operation == nullptr || operation->kind != core::Request::Kind::kGeneralized)
    outcome = base::fail(MPI_ERR_REQUEST,
                         "request is not generalised: only what MPI_Grequest_start made is completed so");
  else if (operation->completion.done())
    outcome = base::fail(MPI_ERR_REQUEST, "request is complete already");
  else {
    calls_of_grequest_complete.fetch_add(1, std::memory_order_relaxed);
    outcome = static_cast<GeneralizedRequest*>(operation)->end(self);
  }
  if (outcome.ok()) return {};
  return Status::from_code(raise(self, nullptr, "MPI_Grequest_complete", outcome));
}

}  // namespace clump::mpi
