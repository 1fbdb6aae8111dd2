// Completing requests (MPI-5.0 sections 3.7 and 3.9): the wait and test families, cancel, free, start.
//
// An error of an operation belongs to the communicator of that operation, so these bodies raise errors
// themselves.
#include <array>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/rank.h"
#include "fiber/completion.h"
#include "mpi/bodies.h"
#include "mpi/entry.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using core::Request;

constexpr core::Result kEmpty;

/// The active operation behind a handle; null for MPI_REQUEST_NULL and inactive persistent requests, which
/// are complete with an empty status.
inline Request* active(Rank& self, MPI_Request handle) {
  Request* request = handle == MPI_REQUEST_NULL ? nullptr : self.request(handle);
  return request != nullptr && request->state == Request::State::kActive ? request : nullptr;
}

bool is_known(Rank& self, MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || handle == core::kCompletedRequest || self.request(handle) != nullptr;
}

Status unknown(const std::string& argument) {
  return base::fail(
      MPI_ERR_REQUEST,
      "{} is no request of this rank: it was never written, or it was completed or freed before", argument);
}

/// What the call has to return if a handle is unknown: no operation and so no communicator is involved.
std::optional<Status> refuse_unknown(Rank& self, const char* call, MPI_Request handle) {
  if (is_known(self, handle)) return {};
  return Status::from_code(raise(self, nullptr, call, unknown("request")));
}

std::optional<Status> refuse_unknown(Rank& self, const char* call, std::span<const MPI_Request> handles) {
  for (std::size_t i = 0; i < handles.size(); ++i)
    if (!is_known(self, handles[i]))
      return Status::from_code(raise(self, nullptr, call, unknown(fmt::format("array_of_requests[{}]", i))));
  return {};
}

/// Ends a complete operation, whose results were taken. The handle becomes null, or inactive if persistent.
void retire(Rank& self, MPI_Request* handle, Request& request) {
  if (request.persistent) {
    request.state = Request::State::kInactive;
    return;
  }
  if (*handle != core::kCompletedRequest) self.remove(request);
  *handle = MPI_REQUEST_NULL;
}

MPI_Status* at(MPI_Status* statuses, std::size_t i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// Retires one operation: its status, and the error if there is one, raised on its communicator.
Status finish_one(Rank& self, const char* call, MPI_Request* handle, Request& request, MPI_Status* status) {
  if (request.result.error == MPI_SUCCESS) [[likely]] {
    core::write_status(status, request.result, false);
    retire(self, handle, request);
    return {};
  }
  const base::Ref<core::Comm> comm = request.comm;
  const auto error = Status::from_code(request.result.error);
  core::write_status(status, request.result, false);
  retire(self, handle, request);
  return Status::from_code(raise(self, comm.get(), call, error));
}

/// Where MPI_Waitsome and MPI_Testsome say which operations were complete.
struct Chosen {
  int* count;
  int* indices;
};

/// Retires the complete operations of `handles`: all handles have a status, those without an operation an
/// empty one; or, with `chosen`, the complete ones alone. MPI_ERR_IN_STATUS if one failed (MPI-5.0
/// section 3.7.5), raised on the communicator of the first that did.
Status finish(Rank& self, const char* call, std::span<MPI_Request> handles, MPI_Status* statuses,
              const Chosen* chosen = nullptr) {
  base::Ref<core::Comm> failed;
  std::string text;
  std::vector<int> errors;  // stays empty, and without memory, while nothing fails
  int n = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Request* const request = active(self, handles[i]);
    const bool complete = request != nullptr && request->completion.done();
    if (chosen != nullptr && !complete) continue;
    if (chosen != nullptr) chosen->indices[n] = static_cast<int>(i);
    if (complete && request->result.error != MPI_SUCCESS && errors.empty()) {
      failed = request->comm;
      text = fmt::format("array_of_requests[{}]: {}", i, base::message_of(request->result.error));
      errors.resize(handles.size(), MPI_SUCCESS);
    }
    const core::Result& result = complete ? request->result : kEmpty;
    if (!errors.empty()) errors[n] = result.error;
    core::write_status(at(statuses, n++), result, false);
    if (complete) retire(self, &handles[i], *request);
  }
  if (chosen != nullptr) *chosen->count = n;
  if (errors.empty()) return {};
  for (int k = 0; k < n && statuses != MPI_STATUSES_IGNORE; ++k) statuses[k].MPI_ERROR = errors[k];
  return Status::from_code(raise(self, failed.get(), call, base::fail_with_text(MPI_ERR_IN_STATUS, text)));
}

std::span<MPI_Request> span_of(MPI_Request* handles, int count) {
  return {handles, static_cast<std::size_t>(count)};
}

/// The index of the first complete operation; -1 if none is, -2 if no handle is active. With several complete
/// ones the search goes round, so that none is passed over for ever.
int find_complete(Rank& self, std::span<const MPI_Request> handles) {
  thread_local std::size_t turn = 0;
  bool any_active = false;
  const std::size_t n = handles.size();
  const std::size_t start = n == 0 ? 0 : ++turn % n;
  for (std::size_t k = 0; k < n; ++k) {
    const std::size_t i = start + k < n ? start + k : start + k - n;
    const Request* request = active(self, handles[i]);
    if (request == nullptr) continue;
    any_active = true;
    if (request->completion.done()) return static_cast<int>(i);
  }
  return any_active ? -1 : -2;
}

/// Whether an operation is complete, perhaps because of what has just come in.
bool is_done(Rank& self, const Request& operation) {
  if (operation.completion.done()) return true;
  p2p::poll(self);
  return operation.completion.done();
}

/// find_complete(), after looking at what has come in if that is needed.
int poll_complete(Rank& self, std::span<const MPI_Request> handles) {
  const int found = find_complete(self, handles);
  if (found != -1) return found;
  p2p::poll(self);
  return find_complete(self, handles);
}

/// Blocks until one of the active operations is complete.
void wait_for_any(Rank& self, std::span<const MPI_Request> handles) {
  std::array<std::byte, 1024> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<fiber::Completion*> completions(&memory);
  completions.reserve(handles.size());
  for (const MPI_Request handle : handles)
    if (Request* request = active(self, handle)) {
      request->before_wait();
      completions.push_back(&request->completion);
    }
  fiber::wait_any(completions);
}

}  // namespace

Status wait(Rank& self, MPI_Request* request, MPI_Status* status) {
  if (const auto refused = refuse_unknown(self, "MPI_Wait", *request)) return *refused;
  Request* const operation = active(self, *request);
  if (operation == nullptr) {
    core::write_status(status, kEmpty, false);
    return {};
  }
  operation->wait();
  return finish_one(self, "MPI_Wait", request, *operation, status);
}

Status test(Rank& self, MPI_Request* request, int* flag, MPI_Status* status) {
  if (const auto refused = refuse_unknown(self, "MPI_Test", *request)) return *refused;
  Request* const operation = active(self, *request);
  *flag = 1;
  if (operation == nullptr) {
    core::write_status(status, kEmpty, false);
    return {};
  }
  if (is_done(self, *operation)) return finish_one(self, "MPI_Test", request, *operation, status);
  *flag = 0;
  fiber::yield_after_empty_poll();
  return {};
}

Status waitall(Rank& self, int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  const auto handles = span_of(array_of_requests, count);
  // Each handle is looked up once: this is where most programs wait.
  std::array<Request*, 64> room;
  std::vector<Request*> more(handles.size() > room.size() ? handles.size() : 0);
  const std::span operations(more.empty() ? room.data() : more.data(), handles.size());
  for (std::size_t i = 0; i < handles.size(); ++i) {
    if (handles[i] == core::kCompletedRequest) handles[i] = MPI_REQUEST_NULL;
    operations[i] = active(self, handles[i]);
    if (operations[i] == nullptr && !is_known(self, handles[i])) [[unlikely]]
      return *refuse_unknown(self, "MPI_Waitall", handles);
  }
  // The last one first: most often all others are complete when it is, and one wait does.
  bool failed = false;
  for (std::size_t i = handles.size(); i-- > 0;) {
    if (operations[i] == nullptr) continue;
    operations[i]->wait();
    failed |= operations[i]->result.error != MPI_SUCCESS;
  }
  if (failed) [[unlikely]]
    return finish(self, "MPI_Waitall", handles, array_of_statuses);
  for (std::size_t i = 0; i < handles.size(); ++i) {
    core::write_status(at(array_of_statuses, i), operations[i] ? operations[i]->result : kEmpty, false);
    if (operations[i] != nullptr) retire(self, &handles[i], *operations[i]);
  }
  return {};
}

Status testall(Rank& self, int count, MPI_Request array_of_requests[], int* flag,
               MPI_Status* array_of_statuses) {
  const auto handles = span_of(array_of_requests, count);
  if (const auto refused = refuse_unknown(self, "MPI_Testall", handles)) return *refused;
  *flag = 1;
  for (std::size_t i = handles.size(); i-- > 0 && *flag == 1;)
    if (const Request* operation = active(self, handles[i]);
        operation != nullptr && !is_done(self, *operation))
      *flag = 0;
  if (*flag == 1) return finish(self, "MPI_Testall", handles, array_of_statuses);
  fiber::yield_after_empty_poll();
  return {};
}

Status waitany(Rank& self, int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  const auto handles = span_of(array_of_requests, count);
  if (const auto refused = refuse_unknown(self, "MPI_Waitany", handles)) return *refused;
  int found;
  while ((found = find_complete(self, handles)) == -1) wait_for_any(self, handles);
  if (found < 0) {
    *index = MPI_UNDEFINED;
    core::write_status(status, kEmpty, false);
    return {};
  }
  *index = found;
  return finish_one(self, "MPI_Waitany", &handles[found], *active(self, handles[found]), status);
}

Status testany(Rank& self, int count, MPI_Request array_of_requests[], int* index, int* flag,
               MPI_Status* status) {
  const auto handles = span_of(array_of_requests, count);
  if (const auto refused = refuse_unknown(self, "MPI_Testany", handles)) return *refused;
  const int found = poll_complete(self, handles);
  *flag = found == -1 ? 0 : 1;
  *index = found < 0 ? MPI_UNDEFINED : found;
  if (found >= 0)
    return finish_one(self, "MPI_Testany", &handles[found], *active(self, handles[found]), status);
  if (found == -2) core::write_status(status, kEmpty, false);
  if (found == -1) fiber::yield_after_empty_poll();
  return {};
}

Status waitsome(Rank& self, int incount, MPI_Request array_of_requests[], int* outcount,
                int array_of_indices[], MPI_Status* array_of_statuses) {
  const Chosen chosen{outcount, array_of_indices};
  const auto handles = span_of(array_of_requests, incount);
  if (const auto refused = refuse_unknown(self, "MPI_Waitsome", handles)) return *refused;
  int found;
  while ((found = find_complete(self, handles)) == -1) wait_for_any(self, handles);
  if (found == -2) {
    *outcount = MPI_UNDEFINED;
    return {};
  }
  return finish(self, "MPI_Waitsome", handles, array_of_statuses, &chosen);
}

Status testsome(Rank& self, int incount, MPI_Request array_of_requests[], int* outcount,
                int array_of_indices[], MPI_Status* array_of_statuses) {
  const Chosen chosen{outcount, array_of_indices};
  const auto handles = span_of(array_of_requests, incount);
  if (const auto refused = refuse_unknown(self, "MPI_Testsome", handles)) return *refused;
  switch (poll_complete(self, handles)) {
    case -2:
      *outcount = MPI_UNDEFINED;
      return {};
    case -1:
      *outcount = 0;
      fiber::yield_after_empty_poll();
      return {};
    default:
      return finish(self, "MPI_Testsome", handles, array_of_statuses, &chosen);
  }
}

Status request_free(Rank& self, MPI_Request* request) {
  Request* const operation = self.request(*request);
  if (operation == nullptr)
    return base::fail(
        MPI_ERR_REQUEST,
        "request is MPI_REQUEST_NULL, or was completed or freed before: there is nothing to free");
  if (*request != core::kCompletedRequest) {
    const bool is_active = operation->state == Request::State::kActive;
    if (is_active) CLUMP_TRY(operation->may_detach());
    std::unique_ptr<Request> owned = self.remove(*request);
    if (is_active) Request::detach(std::move(owned));
  }
  *request = MPI_REQUEST_NULL;
  return {};
}

Status request_get_status(Rank& self, MPI_Request request, int* flag, MPI_Status* status) {
  if (!is_known(self, request)) return unknown("request");
  const Request* const operation = active(self, request);
  *flag = operation == nullptr || is_done(self, *operation) ? 1 : 0;
  if (*flag == 1) core::write_status(status, operation == nullptr ? kEmpty : operation->result, false);
  if (*flag == 0) fiber::yield_after_empty_poll();
  return {};
}

Status cancel(Rank& self, MPI_Request* request) {
  if (!is_known(self, *request)) return unknown("request");
  Request* const operation = active(self, *request);
  if (operation == nullptr)
    return base::fail(MPI_ERR_REQUEST,
                      "request is MPI_REQUEST_NULL or not active: there is nothing to cancel");
  return operation->cancel();
}

Status test_cancelled(Rank&, const MPI_Status* status, int* flag) {
  *flag = core::is_cancelled(*status) ? 1 : 0;
  return {};
}

namespace {

/// A failure is raised on the communicator of the request.
Status start_one(Rank& self, const char* call, MPI_Request handle) {
  Request* const operation = handle == MPI_REQUEST_NULL ? nullptr : self.request(handle);
  Status outcome;
  if (operation == nullptr)
    outcome =
        base::fail(MPI_ERR_REQUEST, "request is MPI_REQUEST_NULL or was freed: there is nothing to start");
  else if (operation->persistent && operation->state == Request::State::kActive)
    outcome = base::fail(MPI_ERR_REQUEST,
                         "the request is active already: complete it (MPI_Wait) before it is started again");
  else
    outcome = operation->start();
  if (outcome.ok()) return {};
  return Status::from_code(
      raise(self, operation != nullptr ? operation->comm.get() : nullptr, call, outcome));
}

}  // namespace

Status start(Rank& self, MPI_Request* request) { return start_one(self, "MPI_Start", *request); }

Status startall(Rank& self, int count, MPI_Request array_of_requests[]) {
  for (const MPI_Request handle : span_of(array_of_requests, count))
    CLUMP_TRY(start_one(self, "MPI_Startall", handle));
  return {};
}

}  // namespace clump::mpi
