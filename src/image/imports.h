// What loaded objects import. For a file that is not loaded: find_import() of process_only.h.
#pragma once

#include "image/symbols.h"

namespace clump::image {

/// From here on each fiber has its own flags of floating-point exceptions (fiber/float_flags.h), if the
/// object imports a function that reports them. Any time: a fiber that sleeps then goes on with none.
void keep_float_flags_if_told(const Dynamic& object);

/// From here on the processor time of fibers is counted (fiber/processor_time.h), if the program imports a
/// function that reports it.
void keep_usage_if_told(const Dynamic& program);

}  // namespace clump::image
