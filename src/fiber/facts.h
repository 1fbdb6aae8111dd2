// Facts for debuggers: see base/fact.h.
#pragma once

#include <vector>

#include "base/fact.h"

namespace clump::fiber {

std::vector<base::Fact> facts();

}  // namespace clump::fiber
