// Which programs ask for floating-point exceptions: a switch between fibers keeps all of them for these only
// (fiber/float_flags.h).
#pragma once

#include "image/symbols.h"

namespace clump::image {

/// Fibers have their own from here on, if the object imports a function that tells of them. Before ranks run.
void keep_float_flags_if_told(const Dynamic& object);

}  // namespace clump::image
