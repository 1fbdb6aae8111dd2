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
#include "fiber/polling.h"
#include "mpi/bodies.h"
#include "mpi/check/checked_requests.h"
#include "mpi/entry/entry.h"
#include "mpi/generalized_requests.h"
#include "mpi/trace/exploring.h"
#include "p2p/p2p.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Rank;
using core::Request;

/// Its MPI_ERROR is part of it (MPI-5.0 section 3.7.3).
constexpr core::Result kEmpty;

/// The active operation behind a handle; null for MPI_REQUEST_NULL and inactive persistent requests, which
/// are complete with an empty status.
inline Request* active(Rank& self, MPI_Request handle) {
  Request* request = handle == MPI_REQUEST_NULL ? nullptr : self.request(handle);
  return request != nullptr && request->state == Request::State::kActive ? request : nullptr;
}

void look_at_waited_for(const Rank& self, std::span<const MPI_Request> handles) {
  if (self.sites != nullptr) [[unlikely]]
    checked::note_waited_for(self, handles);
}

bool is_known(Rank& self, MPI_Request handle) {
  return handle == MPI_REQUEST_NULL || handle == core::kCompletedRequest || self.request(handle) != nullptr;
}

Status unknown(const std::string& argument) {
  return base::fail(
      MPI_ERR_REQUEST,
      "{} is no request of this rank: it was never written, or it was completed or freed before", argument);
}

bool are_known(Rank& self, std::span<const MPI_Request> handles) {
  return std::ranges::all_of(handles, [&](MPI_Request handle) { return is_known(self, handle); });
}

/// What the call has to return if a handle is unknown: no operation and so no communicator is involved. Apart
/// from the question whether it is: an optional of a status is read as a whole after it was written in parts,
/// and the processor waits for that.
[[gnu::cold]] Status refuse_unknown(Rank& self, const char* call) {
  return Status::from_code(raise(self, nullptr, call, unknown("request")));
}

[[gnu::cold]] Status refuse_unknown(Rank& self, const char* call, std::span<const MPI_Request> handles) {
  std::size_t i = 0;
  while (is_known(self, handles[i])) ++i;
  return Status::from_code(raise(self, nullptr, call, unknown(fmt::format("array_of_requests[{}]", i))));
}

/// How a call looks at operations.
struct Manner {
  MPI_Status* statuses;     ///< one, or an array of them, or null: to be ignored
  bool keep = false;        ///< the complete ones stay as they are: MPI_Request_get_status and its family
  int* outcount = nullptr;  ///< not null: it wants the complete ones alone; here and
  int* indices = nullptr;   ///< here it says which they are
  std::size_t found = 0;    ///< one that it has to tell of; the others perhaps (fiber/exploration.h)
};

/// What a complete operation tells.
const core::Result& result_of(Request& request, const Manner& manner) {
  if (request.has_unfinished_result()) [[unlikely]]
    request.finish_result(manner.keep);
  return request.result;
}

/// Ends a complete operation, whose results were taken. The handle becomes null, or inactive if persistent.
[[gnu::always_inline]] inline void retire(Rank& self, MPI_Request* handle, Request& request) {
  if (request.persistent) {
    request.state = Request::State::kInactive;
    return;
  }
  if (*handle != core::kCompletedRequest) self.retire(request);
  *handle = MPI_REQUEST_NULL;
}

MPI_Status* at(MPI_Status* statuses, std::size_t i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

/// The same error as a code of the rank.
int code_of_rank(Rank& self, int error) {
  const auto status = Status::from_code(error);
  std::string text = base::message_of(error);
  return core::ErrorCodes::is_users(error) || text.empty()
             ? error
             : self.error_codes.tell(status.error_class(), std::move(text)).code();
}

/// Whose error handler is told of a failed operation, which may be retired by then.
struct Concerned {
  base::Ref<core::Comm> comm;
  base::Ref<core::File> file;
  base::Ref<core::Window> window;

  explicit Concerned(const Request& request)
      : comm(request.comm), file(request.file()), window(request.window()) {}
  ErrorTarget target() const {
    if (file) return file.get();
    return window ? ErrorTarget(window.get()) : ErrorTarget(comm.get());
  }
};

/// One complete operation: its status, and the error if there is one, raised on its communicator.
Status finish_one(Rank& self, const char* call, MPI_Request* handle, Request& request, const Manner& manner) {
  const core::Result& result = result_of(request, manner);
  core::write_status(manner.statuses, result, false);
  if (result.error == MPI_SUCCESS) [[likely]] {
    if (!manner.keep) retire(self, handle, request);
    return {};
  }
  const Concerned concerned(request);
  const auto error = Status::from_code(result.error);
  if (!manner.keep) retire(self, handle, request);
  return Status::from_code(raise(self, concerned.target(), call, error));
}

/// The complete operations of `handles`: all handles have a status, those without an operation an empty one;
/// or the complete ones alone. MPI_ERR_IN_STATUS if one failed (MPI-5.0 section 3.7.5), raised on the
/// communicator of the first that did.
Status finish(Rank& self, const char* call, std::span<MPI_Request> handles, const Manner& manner) {
  MPI_Status* const statuses = manner.statuses;
  const bool all = manner.outcount == nullptr;
  if (all) look_at_waited_for(self, handles);
  std::optional<Concerned> failed;
  std::string text;
  std::vector<int> errors;  // stays empty, and without memory, while nothing fails
  int n = 0;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    Request* const request = active(self, handles[i]);
    const bool complete = request != nullptr && request->completion.done();
    if (!all && (!complete || (i != manner.found && overlooks(self)))) continue;
    if (!all) manner.indices[n] = static_cast<int>(i);
    const core::Result& result = complete ? result_of(*request, manner) : kEmpty;
    if (result.error != MPI_SUCCESS && errors.empty()) {
      failed.emplace(*request);
      text = fmt::format("array_of_requests[{}]: {}", i, self.error_codes.text_of(result.error));
      errors.resize(handles.size(), MPI_SUCCESS);
    }
    if (result.error != MPI_SUCCESS) errors[n] = code_of_rank(self, result.error);
    core::write_status(at(statuses, n++), result, false);
    if (complete && !manner.keep) retire(self, &handles[i], *request);
  }
  if (!all) *manner.outcount = n;
  if (errors.empty()) return {};
  for (int k = 0; k < n && statuses != MPI_STATUSES_IGNORE; ++k) statuses[k].MPI_ERROR = errors[k];
  return Status::from_code(
      raise(self, failed->target(), call, base::fail_with_text(MPI_ERR_IN_STATUS, text)));
}

/// Calls that only look (Manner::keep) have constant arrays.
std::span<MPI_Request> span_of(const MPI_Request* handles, int count) {
  return {const_cast<MPI_Request*>(handles), static_cast<std::size_t>(count)};
}

/// find_complete() of explored runs: any of them.
[[gnu::cold, gnu::noinline]] int draw_complete(Rank& self, std::span<const MPI_Request> handles) {
  bool any_active = false;
  std::vector<int> complete;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    const Request* const request = active(self, handles[i]);
    any_active = any_active || request != nullptr;
    if (request != nullptr && request->completion.done()) complete.push_back(static_cast<int>(i));
  }
  if (complete.empty()) return any_active ? -1 : -2;
  return complete[fiber::exploration::choose(complete.size())];
}

/// The index of the first complete operation; -1 if none is, -2 if no handle is active. Programs expect the
/// first one of several (mpi4py's tests do); but where requests stay the search goes round, so that none is
/// passed over for ever.
int find_complete(Rank& self, std::span<const MPI_Request> handles, bool go_round = false) {
  if (self.is_explored()) [[unlikely]]
    return draw_complete(self, handles);
  thread_local std::size_t turn = 0;
  bool any_active = false;
  const std::size_t n = handles.size();
  const std::size_t start = go_round && n != 0 ? ++turn % n : 0;
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

/// find_complete(), after looking at what has come in if that is needed: always, if a complete one stays,
/// because the same call may be made until others are complete, too.
int poll_complete(Rank& self, std::span<const MPI_Request> handles, bool keep) {
  if (keep) p2p::poll(self);
  const int found = find_complete(self, handles, keep);
  if (found >= 0 && overlooks(self)) return -1;
  if (found != -1 || keep) return found;
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
      request->before_wait(Request::WaitsFor::kAny);
      completions.push_back(&request->completion);
    }
  fiber::wait_any(completions);
}

/// MPI_Test and MPI_Request_get_status.
Status test_one(Rank& self, const char* call, MPI_Request* handle, int* flag, const Manner& manner) {
  if (!is_known(self, *handle)) [[unlikely]]
    return refuse_unknown(self, call);
  Request* const operation = active(self, *handle);
  *flag = 1;
  if (operation == nullptr) {
    look_at_waited_for(self, {handle, 1});
    core::write_status(manner.statuses, kEmpty, true);
    return {};
  }
  if (is_done(self, *operation) && !overlooks(self))
    return finish_one(self, call, handle, *operation, manner);
  *flag = 0;
  fiber::yield_after_empty_poll();
  return {};
}

Status test_all(Rank& self, const char* call, std::span<MPI_Request> handles, int* flag,
                const Manner& manner) {
  if (!are_known(self, handles)) [[unlikely]]
    return refuse_unknown(self, call, handles);
  *flag = 1;
  bool any_active = false;
  for (std::size_t i = handles.size(); i-- > 0 && *flag == 1;)
    if (const Request* operation = active(self, handles[i]); operation != nullptr) {
      any_active = true;
      if (!is_done(self, *operation)) *flag = 0;
    }
  if (any_active && overlooks(self)) *flag = 0;
  if (*flag == 1) return finish(self, call, handles, manner);
  fiber::yield_after_empty_poll();
  return {};
}

/// The index goes to manner.indices.
Status test_any(Rank& self, const char* call, std::span<MPI_Request> handles, int* flag,
                const Manner& manner) {
  if (!are_known(self, handles)) [[unlikely]]
    return refuse_unknown(self, call, handles);
  const int found = poll_complete(self, handles, manner.keep);
  *flag = found == -1 ? 0 : 1;
  *manner.indices = found < 0 ? MPI_UNDEFINED : found;
  // Where requests stay, the call is likely to be made again until more are complete.
  if (found == -1 || (found >= 0 && manner.keep)) fiber::yield_after_empty_poll();
  if (found >= 0) return finish_one(self, call, &handles[found], *active(self, handles[found]), manner);
  if (found == -2) core::write_status(manner.statuses, kEmpty, true);
  return {};
}

Status test_some(Rank& self, const char* call, std::span<MPI_Request> handles, Manner manner) {
  if (!are_known(self, handles)) [[unlikely]]
    return refuse_unknown(self, call, handles);
  const int found = poll_complete(self, handles, manner.keep);
  switch (found) {
    case -2:
      *manner.outcount = MPI_UNDEFINED;
      return {};
    case -1:
      *manner.outcount = 0;
      fiber::yield_after_empty_poll();
      return {};
    default:
      if (manner.keep) fiber::yield_after_empty_poll();
      manner.found = static_cast<std::size_t>(found);
      return finish(self, call, handles, manner);
  }
}

/// What MPI_Waitall has to wait for.
struct Awaited {
  Request* operation;
  MPI_Request* handle;
};

[[gnu::noinline]] void write_empty(MPI_Status* status) { core::write_status(status, kEmpty, false); }

/// Writes the active operations of `handles` to `awaited`, and what there is to be written for the others.
/// Null if one is no request; otherwise the end of what was written. Each handle is looked up once.
[[gnu::noinline]] Awaited* collect(const Rank& self, std::span<MPI_Request> handles, MPI_Status* statuses,
                                   Awaited* awaited) {
  for (MPI_Request& handle : handles) {
    if (handle == core::kCompletedRequest) {
      handle = MPI_REQUEST_NULL;
    } else {
      Request* const operation = self.request(handle);
      if (operation != nullptr && operation->state == Request::State::kActive) [[likely]] {
        *awaited++ = {operation, &handle};
        continue;
      }
      if (operation == nullptr && handle != MPI_REQUEST_NULL) [[unlikely]]
        return nullptr;
      look_at_waited_for(self, {&handle, 1});
    }
    if (statuses != MPI_STATUSES_IGNORE) write_empty(&statuses[&handle - handles.data()]);
  }
  return awaited;
}

/// Whether all that is left to do is what is done for most: there was no error, and nobody is to be asked.
[[gnu::always_inline]] inline bool wait_for_one(Request& operation) {
  operation.wait();
  return operation.result.error == MPI_SUCCESS && !operation.has_unfinished_result();
}

/// The same for several: which they are can be told.
[[gnu::noinline]] bool wait_for_several(const Rank& self, std::span<const Awaited> awaited,
                                        std::span<const MPI_Request> handles) {
  constexpr std::size_t kFew = 8;
  const core::Waiting told(handles);
  bool plain = true;
  if (self.has_own_worker.load(std::memory_order_relaxed) && awaited.size() <= kFew) {
    // As messages are likely to come: each is taken where it comes in. (Of many, several come at a time.)
    for (const Awaited& one : awaited) plain = wait_for_one(*one.operation) && plain;
  } else {
    // The last one first: most often all others are complete when it is, and one wait does.
    for (std::size_t i = awaited.size(); i-- > 0;) plain = wait_for_one(*awaited[i].operation) && plain;
  }
  return plain;
}

/// This is where most programs wait, so it is made of pieces that need few registers. `room` is for as many
/// as there are handles.
[[gnu::always_inline]] inline Status wait_for_all(Rank& self, std::span<MPI_Request> handles,
                                                  MPI_Status* statuses, Awaited* room) {
  Awaited* const end = collect(self, handles, statuses, room);
  if (end == nullptr) [[unlikely]]
    return refuse_unknown(self, "MPI_Waitall", handles);
  const std::span<const Awaited> awaited(room, end);
  const bool plain = awaited.size() > 1 ? wait_for_several(self, awaited, handles)
                                        : awaited.empty() || wait_for_one(*awaited.front().operation);
  if (!plain) [[unlikely]]
    return finish(self, "MPI_Waitall", handles, {statuses});
  for (const Awaited& one : awaited) {
    if (statuses != MPI_STATUSES_IGNORE)
      core::write_status(&statuses[one.handle - handles.data()], one.operation->result, false);
    retire(self, one.handle, *one.operation);
  }
  return {};
}

[[gnu::noinline]] Status wait_for_many(Rank& self, std::span<MPI_Request> handles, MPI_Status* statuses) {
  std::vector<Awaited> room(handles.size());
  return wait_for_all(self, handles, statuses, room.data());
}

}  // namespace

Status wait(Rank& self, MPI_Request* request, MPI_Status* status) {
  if (!is_known(self, *request)) [[unlikely]]
    return refuse_unknown(self, "MPI_Wait");
  Request* const operation = active(self, *request);
  if (operation == nullptr) {
    look_at_waited_for(self, {request, 1});
    core::write_status(status, kEmpty, true);
    return {};
  }
  operation->wait();
  return finish_one(self, "MPI_Wait", request, *operation, {status});
}

Status waitall(Rank& self, int count, MPI_Request array_of_requests[], MPI_Status* array_of_statuses) {
  const auto handles = span_of(array_of_requests, count);
  std::array<Awaited, 32> room;
  if (handles.size() > room.size()) [[unlikely]]
    return wait_for_many(self, handles, array_of_statuses);
  return wait_for_all(self, handles, array_of_statuses, room.data());
}

Status waitany(Rank& self, int count, MPI_Request array_of_requests[], int* index, MPI_Status* status) {
  const auto handles = span_of(array_of_requests, count);
  if (!are_known(self, handles)) [[unlikely]]
    return refuse_unknown(self, "MPI_Waitany", handles);
  int found;
  while ((found = find_complete(self, handles)) == -1) wait_for_any(self, handles);
  if (found < 0) {
    look_at_waited_for(self, handles);
    *index = MPI_UNDEFINED;
    core::write_status(status, kEmpty, true);
    return {};
  }
  *index = found;
  return finish_one(self, "MPI_Waitany", &handles[found], *active(self, handles[found]), {status});
}

Status waitsome(Rank& self, int incount, MPI_Request array_of_requests[], int* outcount,
                int array_of_indices[], MPI_Status* array_of_statuses) {
  const auto handles = span_of(array_of_requests, incount);
  if (!are_known(self, handles)) [[unlikely]]
    return refuse_unknown(self, "MPI_Waitsome", handles);
  int found;
  while ((found = find_complete(self, handles)) == -1) wait_for_any(self, handles);
  if (found == -2) {
    *outcount = MPI_UNDEFINED;
    return {};
  }
  return finish(self, "MPI_Waitsome", handles,
                {array_of_statuses, false, outcount, array_of_indices, static_cast<std::size_t>(found)});
}

Status test(Rank& self, MPI_Request* request, int* flag, MPI_Status* status) {
  return test_one(self, "MPI_Test", request, flag, {status});
}

Status testall(Rank& self, int count, MPI_Request array_of_requests[], int* flag,
               MPI_Status* array_of_statuses) {
  return test_all(self, "MPI_Testall", span_of(array_of_requests, count), flag, {array_of_statuses});
}

Status testany(Rank& self, int count, MPI_Request array_of_requests[], int* index, int* flag,
               MPI_Status* status) {
  return test_any(self, "MPI_Testany", span_of(array_of_requests, count), flag,
                  {status, false, nullptr, index});
}

Status testsome(Rank& self, int incount, MPI_Request array_of_requests[], int* outcount,
                int array_of_indices[], MPI_Status* array_of_statuses) {
  return test_some(self, "MPI_Testsome", span_of(array_of_requests, incount),
                   {array_of_statuses, false, outcount, array_of_indices});
}

// The same, but the requests stay (MPI-5.0 section 3.7.6). As the standard says of MPI_Test, an error of the
// operation is what the call returns; it will be told once more by the call that completes the request.

Status request_get_status(Rank& self, MPI_Request request, int* flag, MPI_Status* status) {
  return test_one(self, "MPI_Request_get_status", &request, flag, {status, true});
}

Status request_get_status_all(Rank& self, int count, const MPI_Request array_of_requests[], int* flag,
                              MPI_Status* array_of_statuses) {
  return test_all(self, "MPI_Request_get_status_all", span_of(array_of_requests, count), flag,
                  {array_of_statuses, true});
}

Status request_get_status_any(Rank& self, int count, const MPI_Request array_of_requests[], int* index,
                              int* flag, MPI_Status* status) {
  return test_any(self, "MPI_Request_get_status_any", span_of(array_of_requests, count), flag,
                  {status, true, nullptr, index});
}

Status request_get_status_some(Rank& self, int incount, const MPI_Request array_of_requests[], int* outcount,
                               int array_of_indices[], MPI_Status* array_of_statuses) {
  return test_some(self, "MPI_Request_get_status_some", span_of(array_of_requests, incount),
                   {array_of_statuses, true, outcount, array_of_indices});
}

Status request_free(Rank& self, MPI_Request* request) {
  Request* const operation = self.request(*request);
  if (operation == nullptr)
    return base::fail(
        MPI_ERR_REQUEST,
        "request is MPI_REQUEST_NULL, or was completed or freed before: there is nothing to free");
  const MPI_Request handle = *request;
  const bool is_active = operation->state == Request::State::kActive;
  if (is_active) {
    if (!operation->completion.done()) p2p::poll(self);
    CLUMP_TRY(operation->may_detach());
  }
  if (self.sites != nullptr) checked::look_at_freed(self, *operation);
  *request = MPI_REQUEST_NULL;
  if (handle == core::kCompletedRequest) return {};
  if (operation->kind == Request::Kind::kGeneralized)
    return static_cast<GeneralizedRequest*>(operation)->forget(self);
  std::unique_ptr<Request> owned = self.remove(handle);
  if (is_active) Request::detach(std::move(owned));
  return {};
}

Status cancel(Rank& self, MPI_Request* request) {
  if (!is_known(self, *request)) [[unlikely]]
    return refuse_unknown(self, "MPI_Cancel");
  Request* const operation = active(self, *request);
  const Status outcome =
      operation != nullptr
          ? operation->cancel()
          : base::fail(MPI_ERR_REQUEST,
                       "request is MPI_REQUEST_NULL or not active: there is nothing to cancel");
  if (outcome.ok()) return {};
  return Status::from_code(
      raise(self, operation != nullptr ? operation->comm.get() : nullptr, "MPI_Cancel", outcome));
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
  else {
    if (operation->copied != nullptr)
      for (const core::CopiedBuffer& one : operation->copied->all) one.take(one.copy);
    outcome = operation->start();
  }
  if (operation != nullptr) operation->was_started = true;
  if (outcome.ok()) return {};
  return Status::from_code(
      raise(self, operation != nullptr ? operation->comm.get() : nullptr, call, outcome));
}

}  // namespace

bool keep_copied(MPI_Request handle, const core::CopiedBuffer& buffer) {
  Rank* const self = core::current_rank();
  if (self == nullptr || handle == core::kCompletedRequest) return false;
  Request* const operation = self->request(handle);
  if (operation == nullptr) return false;
  if (operation->copied == nullptr) operation->copied = std::make_unique<core::CopiedBuffers>();
  operation->copied->all.push_back(buffer);
  return true;
}

Status start(Rank& self, MPI_Request* request) { return start_one(self, "MPI_Start", *request); }

Status startall(Rank& self, int count, MPI_Request array_of_requests[]) {
  for (const MPI_Request handle : span_of(array_of_requests, count))
    CLUMP_TRY(start_one(self, "MPI_Startall", handle));
  return {};
}

}  // namespace clump::mpi
