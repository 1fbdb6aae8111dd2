// The working directory and the file mode mask of a rank's threads are the rank's. The kernel keeps them for
// each kernel thread, because threads of ranks that are fibers do not share those of the process. So a change
// by the rank has to be told to its threads.
#pragma once

#include "process/signals/state.h"

namespace clump::image::signals {

/// Called when the calling fiber has changed its directory or its mask: the threads of its rank take the
/// change over before this returns. They are interrupted for that, as by a signal whose handler lets system
/// calls go on.
void tell_threads();

/// The first thing that an interrupted thread does. Async-signal-safe.
void take_directory(Thread& self) noexcept;

/// Called by a thread of a rank that has just taken over what it inherits, because it may have missed a
/// change.
void catch_up_with_directory() noexcept;

/// Ends the job, because a thread that the rank has made wants to change the directory or the mask. `call`:
/// "chdir()".
void refuse_change_by_thread(const char* call);

}  // namespace clump::image::signals
