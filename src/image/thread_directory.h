// The working directory and the file mode mask of a rank's threads are the rank's. The kernel keeps them for
// each kernel thread, as threads of ranks that are fibers have left the process's: so what the rank changes is
// told to its threads.
#pragma once

#include "image/signal_state.h"

namespace clump::image::signals {

/// The calling fiber has changed its directory or its mask: its rank's threads take it over before this
/// returns. They are interrupted for that as by a signal whose handler lets system calls go on.
void tell_threads();

/// What an interrupted thread does first. Async-signal-safe.
void take_directory(Thread& self) noexcept;

/// The calling thread of a rank, which has just taken what it inherits, may have missed a change.
void catch_up_with_directory() noexcept;

/// A thread that the rank has made wants to change it: ends the job. `call`: "chdir()".
void refuse_change_by_thread(const char* call);

}  // namespace clump::image::signals
