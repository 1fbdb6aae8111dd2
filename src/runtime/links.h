// The part of boot.cc that makes the channel to other jobs.
#pragma once

#include "core/rank.h"

namespace clump {

/// Gives `world` its link, if ranks of other jobs can be connected to it. Nothing is opened before it is
/// used.
void open_links(core::World& world);

}  // namespace clump
