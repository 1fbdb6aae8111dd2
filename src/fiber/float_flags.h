// Floating-point exceptions that fetestexcept() reports, and that are in no register which a switch reads
// anyway: those of the x87 unit, and all of them on aarch64. Reading them costs some nanoseconds, so a switch
// does it only if the program may ask for them.
#pragma once

namespace clump::fiber {

/// From here on each fiber has its own. At any time: a fiber that is suspended goes on with none set.
void keep_float_flags();

/// Read by each switch, on any thread.
extern "C" [[gnu::visibility("hidden")]] char clump_keeps_float_flags;

}  // namespace clump::fiber
