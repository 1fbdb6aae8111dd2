// Core files, where `ulimit -c` allows them. Not for other layers.
#pragma once

namespace clump::host {

/// Whether the system writes a core file of this process when a signal ends it. Async-signal-safe.
bool leaves_core();

/// Ends the process by `signal`, whose standard action writes a core file. Async-signal-safe.
[[noreturn]] void end_with_core(int signal);

}  // namespace clump::host
