// --coll: which algorithms collective operations use.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// "allreduce=two-stage,broadcast=flat", as variables for the ranks' environment (see
/// instruments/settings.h). Fails with MPI_ERR_ARG and a message that names what there is.
base::Status choose_collectives(std::string_view option, std::string_view list,
                                std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clump::mpiexec
