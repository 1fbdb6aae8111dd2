// What there is to be told about the ranks of this process when somebody asks what all wait for.
#pragma once

#include "core/rank.h"
#include "pmi/waits.h"

namespace clump {

/// By a thread that is none of a rank's, at any time. While it looks, no thread of a rank that waits goes on.
pmi::Account take_account(core::World& world);

}  // namespace clump
