// Part of boot.cc.
#pragma once

#include <vector>

#include "core/rank.h"

namespace clump {

/// Gives `world` its channels. `sinks`: of each rank of the job; null for those of other processes.
void connect(core::World& world, const std::vector<net::Sink*>& sinks);

/// Whether nothing is under way between this process and the network, and how much has passed so far. By the
/// observer, while all threads of ranks sleep.
bool network_rests(std::uint64_t& sent, std::uint64_t& taken);

}  // namespace clump
