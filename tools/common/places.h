// Where things are: programs on the user's side, libraries on ours.
#pragma once

#include <string>

#include "base/status.h"

namespace clump::tools {

/// Our library of that name, in ../lib beside the running tool: in the build tree as where it is installed.
/// Empty if it is not there, or if it is not known where the tool is.
std::string own_library(const std::string& name);

/// The folder that has bin and lib: the prefix of the installation, or the build tree.
std::string own_prefix();

/// Our program of that name, beside the running tool. Empty if it is not known where that is.
std::string own_program(const std::string& name);

/// `path` as seen from the absolute path `directory`.
std::string absolute(const std::string& path, const std::string& directory);

/// This process's working directory.
std::string current_directory();

bool is_file(const std::string& path);

/// What a shell in `directory` would start for `typed`: a path if it has a slash, otherwise the first one in
/// PATH. Fails with MPI_ERR_NO_SUCH_FILE.
base::Status find_program(const std::string& typed, const std::string& directory, std::string& path);

/// As a word for a shell.
std::string shell_word(const std::string& word);

}  // namespace clump::tools
