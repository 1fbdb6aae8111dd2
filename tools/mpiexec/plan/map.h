// The text of --map: which ranks run where.
#pragma once

#include <string>

#include "plan/plan.h"

namespace clump::mpiexec {

/// Some lines, each ended: one screen for a thousand ranks on 128 cores.
std::string map_text(const Plan& plan);

}  // namespace clump::mpiexec
