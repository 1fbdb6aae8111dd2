// What the controls are set to, and setting them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "core/rank.h"
#include "instruments/catalogue.h"

namespace clump::instruments {

/// How many elements of its type a control has.
int elements_of(const Control& control);
/// Writes them to `out`. Any thread of the rank.
void get(const core::Rank& rank, const Control& control, void* out);
/// Fails with MPI_T_ERR_CVAR_SET_NEVER, or MPI_T_ERR_INVALID for a value that there is not.
base::Status set(core::Rank& rank, const Control& control, const void* value);

/// Sets what an environment ("NAME=value") has variables for: a size with an optional k or m behind it, or
/// the name of an item. Fails with MPI_ERR_ARG and a message that names the variable. Before the rank runs.
base::Status set_from(const std::vector<std::string>& environment, core::Rank& rank);

/// What an environment says of the control `check`: what all ranks of the job do from the start.
core::Checks checks_from(const std::vector<std::string>& environment);

}  // namespace clump::instruments
