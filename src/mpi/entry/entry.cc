#include "mpi/entry/entry.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

#include "base/printable.h"
#include "fiber/exploration.h"
#include "fiber/fiber.h"
#include "instruments/tool.h"
#include "mpi/check/checking.h"
#include "mpi/process.h"
#include "mpi/trace/recording.h"
#include "record/recorder.h"

namespace clump::mpi {

namespace {

std::string text_of(const core::Rank* self, int code) {
  return self != nullptr ? self->error_codes.text_of(code) : base::message_of(code);
}

// The same failure with the name of the call in front of its text, as a code of the rank.
base::Status with_name(core::Rank* self, const char* call, base::Status status) {
  if (core::ErrorCodes::is_users(status.code())) return status;
  std::string text = text_of(self, status.code());
  const char* const meaning = base::meaning_of_class(status.error_class());
  if (text.empty()) text = meaning != nullptr ? meaning : fmt::format("error {}", status.error_class());
  text = fmt::format("{}{}{}", call, text.front() == '(' ? "" : ": ", text);
  return self != nullptr ? self->error_codes.tell(status.error_class(), std::move(text))
                         : base::fail_with_text(status.error_class(), std::move(text));
}

// What the program gets. MPI_ERR_IN_STATUS is returned as such (MPI-5.0 section 3.7.5): programs compare
// their result with it. The codes with texts are in the statuses.
int code_for_program(base::Status status) {
  return status.error_class() == MPI_ERR_IN_STATUS && !core::ErrorCodes::is_users(status.code())
             ? MPI_ERR_IN_STATUS
             : status.code();
}

// The class of an error: of a code that the program has added, the one that it has added it to.
int class_of(core::Rank* self, base::Status status) {
  if (!core::ErrorCodes::is_users(status.code())) return status.error_class();
  const std::optional<int> found = self != nullptr ? self->error_codes.class_of(status.code()) : std::nullopt;
  return found && !core::ErrorCodes::is_users(*found) ? *found : MPI_ERR_OTHER;
}

// What the user reads when a job ends by an error of MPI.
std::string last_words(core::Rank* self, const char* call, base::Status status, const core::Comm* comm) {
  std::string text;
  if (!core::ErrorCodes::is_users(status.code()))
    text = text_of(self, status.code());
  else
    text = fmt::format("{}: error code {} {}", call, status.code(), text_of(self, status.code()));
  if (const char* name = base::name_of_class(class_of(self, status))) text += fmt::format(" [{}]", name);
  const std::string name = comm != nullptr ? comm->name.get() : "";
  if (!name.empty() && text.find(name) == std::string::npos) text += fmt::format(" [on {}]", name);
  return base::printable(std::move(text));
}

[[noreturn]] void end_job(core::Rank* self, base::Status status, const std::string& text) {
  if (self != nullptr && self->world.abort_job != nullptr)
    self->world.abort_job(self->number, class_of(self, status), text);
  // A thread or process that belongs to no job: nobody else can tell.
  std::fprintf(stderr, "clump: %s\n", text.c_str());
  std::_Exit(EXIT_FAILURE);
}

base::Ref<core::Errhandler> handler_of(core::Rank* self, const ErrorTarget& target) {
  if (target.errhandler != nullptr) return base::Ref(target.errhandler);
  if (target.file != nullptr) return target.file->errhandler.get();
  if (target.of_files && self != nullptr) return self->file_errhandler.get();
  if (target.comm != nullptr) return target.comm->errhandler.get();
  if (target.session != nullptr) return target.session->errhandler.get();
  if (target.window != nullptr) return target.window->errhandler.get();
  if (self == nullptr) return core::Errhandler::fatal();
  // Outside of MPI_Init and MPI_Finalize the initial one, which the communicator keeps that no user sees.
  const core::Comm* const comm_self = self->comm(MPI_COMM_SELF);
  return (comm_self != nullptr ? comm_self : self->comm_founding.get())->errhandler.get();
}

base::Status why_not_ready(const core::Rank& self) {
  if (self.phase.load(std::memory_order_relaxed) == core::Rank::Phase::kFinalized)
    return base::fail(MPI_ERR_OTHER, "MPI_Finalize was called already; move this call before it");
  if (self.had_sessions())
    return base::fail(MPI_ERR_OTHER,
                      "the last session has ended; move this call before its MPI_Session_finalize");
  return base::fail(MPI_ERR_OTHER, "MPI is not initialised; call MPI_Init first");
}

/// Others may come first. Of threads that ranks make nobody knows when they run.
void begin_explored(core::Rank& rank) {
  if (fiber::rank_fiber() != nullptr) return fiber::exploration::may_lose_turn();
  const auto status = base::fail(
      MPI_ERR_UNSUPPORTED_OPERATION,
      "a thread that this rank has made calls MPI, and nobody can draw from a seed (mpiexec --seed) when it "
      "runs: run the program without --seed, or call MPI from main threads alone");
  end_job(&rank, status, base::message_of(status.code()));
}

/// Calls the function of an error handler of communicators. `comm`: null is MPI_COMM_SELF, or with `is_made`
/// false a communicator that was not made. One that the program has freed, while an operation goes on in it,
/// has a handle as long as the function runs.
int call_for_comm(core::Rank* self, const core::Errhandler& handler, core::Comm* comm, bool is_made,
                  int code) {
  MPI_Comm handle = !is_made ? MPI_COMM_NULL : comm != nullptr ? comm->handle : MPI_COMM_SELF;
  const bool is_freed = comm != nullptr && self != nullptr &&
                        core::value_of(handle) >= core::kPredefinedHandles && self->comm(handle) != comm;
  if (!is_freed) return call_handler(self, handler, &handle, code);
  const MPI_Comm lent = self->add(base::Ref<core::Comm>(comm));
  handle = lent;
  const int answer = call_handler(self, handler, &handle, code);
  static_cast<void>(self->remove(lent));
  return answer;
}

/// Calls the user's function of an error handler.
int call_users(core::Rank* self, const core::Errhandler& handler, const ErrorTarget& target, int code) {
  const bool is_made = target.errhandler == nullptr;  // what the handler is told of
  switch (handler.action) {
    case core::Errhandler::Action::kComm:
      return call_for_comm(self, handler, is_made ? target.comm : nullptr, is_made, code);
    case core::Errhandler::Action::kWin: {
      MPI_Win handle = is_made && target.window != nullptr ? target.window->handle : MPI_WIN_NULL;
      return call_handler(self, handler, &handle, code);
    }
    case core::Errhandler::Action::kFile: {
      MPI_File handle = target.file != nullptr ? target.file->handle : MPI_FILE_NULL;
      return call_handler(self, handler, &handle, code);
    }
    case core::Errhandler::Action::kSession: {
      MPI_Session handle = is_made ? target.session->handle : MPI_SESSION_NULL;
      return call_handler(self, handler, &handle, code);
    }
    default:
      return code;
  }
}

}  // namespace

int raise(core::Rank* self, const ErrorTarget& target, const char* call, base::Status status) {
  status = with_name(self, call, status);
  const base::Ref<core::Errhandler> handler = handler_of(self, target);
  switch (handler->action) {
    case core::Errhandler::Action::kReturn:
      return code_for_program(status);
    case core::Errhandler::Action::kFatal:
    case core::Errhandler::Action::kAbort:
      end_job(self, status, last_words(self, call, status, target.comm));
    default:
      break;
  }
  return call_users(self, *handler, target, code_for_program(status));
}

int call_handler(core::Rank* self, const core::Errhandler& handler, void* handle, int code) {
  if (self != nullptr) Recording::end_before_handler(*self);
  const Checking::Interrupted interrupted(self);
  return handler.call(handle, code);
}

Call::Early Call::not_ready() {
  Early early{core::current_rank(), {}};
  if (early.self == nullptr) early = enter_early();
  if (early.why.ok()) early.why = why_not_ready(*early.self);
  return early;
}

Call::SlowPath Call::attend(core::Rank& rank, Form form) {
  const std::uint8_t what = rank.pending_events.load(std::memory_order_relaxed);
  if ((what & core::Rank::kEventsWait) != 0) instruments::Tool::of(rank).dispatcher.tell();
  // A call that goes aside is begun once more, and then others may come first.
  if ((what & core::Rank::kRecorded) != 0 && !record::Recorder::mine().is_in_call())
    return SlowPath::kRecorded;
  if (form == Form::kUnchecked && is_checked(rank)) return SlowPath::kChecked;
  if ((what & core::Rank::kExplored) != 0) begin_explored(rank);
  return SlowPath::kNone;
}

base::Status Call::may_call(const core::Rank& rank) {
  // Sessions get MPI_THREAD_MULTIPLE.
  if (!is_checked(rank) || rank.thread_level == MPI_THREAD_MULTIPLE || rank.had_sessions()) return {};
  const unsigned long self = pthread_self();
  if (rank.thread_level == MPI_THREAD_SERIALIZED) {
    const unsigned long inside = rank.thread_inside.load(std::memory_order_acquire);
    if (inside == 0 || inside == self) return {};
    return base::fail(
        MPI_ERR_OTHER,
        "two threads of the rank are in calls of MPI at the same time, and the program has asked for "
        "MPI_THREAD_SERIALIZED: ask for MPI_THREAD_MULTIPLE (MPI_Init_thread), or let one wait for the "
        "other");
  }
  if (self == rank.main_thread) return {};
  return base::fail(
      MPI_ERR_OTHER,
      "a thread that has not initialised MPI calls it, and the program has asked for {}: ask for "
      "MPI_THREAD_SERIALIZED or MPI_THREAD_MULTIPLE (MPI_Init_thread)",
      rank.thread_level == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED"
                                               : "MPI_THREAD_SINGLE (as MPI_Init does)");
}

instruments::Tool* enter_tool() {
  core::Rank* const rank = core::current_rank();
  instruments::Tool* const tool = instruments::Tool::ready(rank);
  if (tool != nullptr &&
      (rank->pending_events.load(std::memory_order_relaxed) & core::Rank::kEventsWait) != 0)
    tool->dispatcher.tell();
  return tool;
}

base::Status no_tool() { return base::Status::from_code(MPI_T_ERR_NOT_INITIALIZED); }

Call::Early Call::enter_early() {
  std::string why;
  core::Rank* const self = find_rank(why);
  return {self, self == nullptr ? base::fail(MPI_ERR_OTHER, "{}", why) : base::Status()};
}

int missing(const char* name) { return missing(name, MPI_COMM_NULL); }

int missing(const char* name, MPI_Comm comm) {
  Call call(name);
  const base::Status status = call.enter();
  if (!status.ok() && call.slow_path == Call::SlowPath::kNone) return call.raise(status);
  call.target.comm = call.self->comm(comm);
  return call.raise(base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                               "this function is not built yet in Clump {}; `clump info --missing` "
                               "lists all that are not",
                               CLUMP_VERSION));
}

base::Status CountOut::too_large(const char* name, Count value) {
  return base::fail(MPI_ERR_VALUE_TOO_LARGE,
                    "({}): the value {} does not fit into an int; use the form of this function that ends "
                    "in _c",
                    name, value);
}

}  // namespace clump::mpi
