// Floating-point exceptions that fetestexcept() tells of, and that are in no register which a switch reads
// anyway: the x87 unit's, and all of them on aarch64. To read them costs some nanoseconds, so a switch does so
// only where the program may ask for them.
#pragma once

namespace clump::fiber {

/// Each fiber has its own from here on. Before the first switch.
void keep_float_flags();

extern "C" [[gnu::visibility("hidden")]] char clump_keeps_float_flags;

}  // namespace clump::fiber
