// Finds out whether a program asks for floating-point exceptions: only then does a switch between fibers keep
// all of them (fiber/float_flags.h).
#pragma once

#include "image/symbols.h"

namespace clump::image {

/// From here on each fiber has its own flags, if the object imports a function that reports them. Any time: a
/// fiber that sleeps then goes on with none.
void keep_float_flags_if_told(const Dynamic& object);

}  // namespace clump::image
