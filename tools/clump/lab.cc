// clump lab: the laboratory is a package for Python (lab/ of the sources), installed with the programs that
// it compiles. This starts it with the user's words.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands.h"
#include "common/places.h"

namespace clump::tools {

namespace {

/// In front of what PYTHONPATH has already.
void add_to_python_path(const std::string& folder) {
  const char* const old = std::getenv("PYTHONPATH");
  const std::string all = old == nullptr || *old == '\0' ? folder : folder + ":" + old;
  ::setenv("PYTHONPATH", all.c_str(), 1);
}

}  // namespace

int run_lab(const std::vector<std::string>& words) {
  const std::string folder = own_prefix() + "/share/clump/lab";
  if (::access((folder + "/clump_lab/__main__.py").c_str(), R_OK) != 0) {
    fmt::print(stderr,
               "clump: {} has no clump_lab: install Clump with its component 'development', which has the "
               "laboratory\n",
               folder);
    return 1;
  }
  add_to_python_path(folder);
  ::setenv("CLUMP_LAB_PREFIX", own_prefix().c_str(), 1);
  std::vector<std::string> command{"python3", "-B", "-m", "clump_lab"};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp("python3", arguments.data());
  fmt::print(stderr,
             "clump: the laboratory needs python3 (3.9 or newer) in PATH, which cannot be started: {}\n",
             std::strerror(errno));
  return 127;
}

}  // namespace clump::tools
