// --coll, --reproducible and --check: how collective operations are done.
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

/// The variable that makes reductions give the same bits for every placement.
std::pair<std::string, std::string> reproducible_reductions();
/// How much is checked ("on", "error"), as a variable. Fails as choose_collectives().
base::Status choose_checks(std::string_view option, std::string_view how,
                           std::vector<std::pair<std::string, std::string>>& variables);

}  // namespace clump::mpiexec
