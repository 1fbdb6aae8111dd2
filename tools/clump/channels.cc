#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "commands.h"
#include "common/output.h"
#include "common/places.h"

namespace clump::tools {

int show_channels(const std::vector<std::string>& options) {
  std::vector<std::string> words{own_program("mpiexec")};
  words.insert(words.end(), options.begin(), options.end());
  words.push_back(own_program("clump-channels"));
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execv(arguments[0], arguments.data());
  print_error("clump: {} cannot be started: {}\n", words[0], std::strerror(errno));
  return 127;
}

}  // namespace clump::tools
