// What ends a sleep before its time. Inside of this layer.
#pragma once

#include <chrono>
#include <optional>

#include "image/signal_state.h"

namespace clump::image::signals {

/// Sleeps until a handler of the calling thread's has run (true), or until the time (false). Nothing else
/// runs handlers meanwhile, and they may leave by siglongjmp().
bool wait_for_handler(Thread& self, std::optional<std::chrono::steady_clock::time_point> until);

}  // namespace clump::image::signals
