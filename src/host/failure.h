// Failures inside the host process. Not for other layers: they call fail_job().
#pragma once

#include "fiber/identity.h"
#include "pmi/control.h"

namespace clump::host {

/// Tells mpiexec of `failure` and ends the process. Only the first caller of this and of end_job_here() is
/// heard; none returns. Async-signal-safe.
[[noreturn]] void end_job(const pmi::FailureView& failure);

/// The same, with the calling thread's stack. `context`: a signal handler's third argument, or null.
[[noreturn]] void end_job_here(pmi::FailureView failure, const void* context);

/// The function of MPI that a rank of this process has entered last; null if that is unknown.
/// Async-signal-safe.
const char* last_call_of(const fiber::Identity& rank) noexcept;

}  // namespace clump::host
