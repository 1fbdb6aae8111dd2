// Part of boot.cc.
#pragma once

#include <vector>

#include "core/rank.h"

namespace clump {

/// Gives `world` its channels. `sinks`: of each rank of the job; null for those of other processes.
void connect(core::World& world, const std::vector<net::Sink*>& sinks);

}  // namespace clump
