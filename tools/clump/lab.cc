// clump lab: the laboratory is a package for Python (lab/ of the sources), installed with the programs that
// it compiles. This starts it with the user's words.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "commands.h"
#include "common/output.h"
#include "common/places.h"

namespace clump::tools {

int run_lab(const std::vector<std::string>& words) {
  const std::string start = own_prefix() + "/share/clump/lab/start.py";
  if (::access(start.c_str(), R_OK) != 0) {
    print_error(
        "clump: {} is missing: install Clump with its component 'development', which has the "
        "laboratory\n",
        start);
    return 1;
  }
  ::setenv("CLUMP_LAB_PREFIX", own_prefix().c_str(), 1);
  // -I: no module comes from the folder that the user stands in, as with -m, or from PYTHONPATH.
  std::vector<std::string> command{"python3", "-I", "-B", start};
  command.insert(command.end(), words.begin(), words.end());
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp("python3", arguments.data());
  print_error("clump: the laboratory needs python3 (3.9 or newer) in PATH, which cannot be started: {}\n",
              std::strerror(errno));
  return 127;
}

}  // namespace clump::tools
