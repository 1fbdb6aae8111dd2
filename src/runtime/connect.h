// The part of boot.cc that makes the channels.
#pragma once

#include <vector>

#include "core/rank.h"

namespace clump {

/// Gives `world` its channels. `sinks`: one for each rank of the job; null for ranks of other processes.
void connect(core::World& world, const std::vector<net::Sink*>& sinks);

/// Whether nothing is under way between this process and the network; `sent` and `taken` are how many
/// messages have passed so far. By the observer, while all threads of ranks sleep.
bool network_rests(std::uint64_t& sent, std::uint64_t& taken);

}  // namespace clump
