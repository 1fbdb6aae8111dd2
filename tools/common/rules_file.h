// The file with rules for collectives that clump tune writes and mpiexec reads.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "coll/select/select.h"

namespace clump::tools {

/// $XDG_CONFIG_HOME/clump/collectives, or that of ~/.config; empty if there is no home.
std::string usual_rules_file();

struct RulesFile {
  std::string path;  ///< empty: there is none, and the shipped rules are all
  std::vector<coll::Rule> rules;
  int cores = 0;  ///< of the machine that they are for; 0: it does not say
};
/// The file that the user asks for (mpiexec's --coll-rules), otherwise that of the environment variable
/// CLUMP_COLL_RULES ("none" for none, in both), otherwise the usual one if it is there. Fails with
/// MPI_ERR_ARG and a message that names the file, the line, and what there is.
base::Status find_rules(const std::optional<std::string>& asked, RulesFile& file);

}  // namespace clump::tools
