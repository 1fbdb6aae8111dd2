#include "base/program_path.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>

namespace clump::base {

std::string program_path() {
  char path[PATH_MAX];
  const ssize_t length = ::readlink("/proc/self/exe", path, sizeof path);
  if (length > 0) return {path, static_cast<std::size_t>(length)};
  const auto* const asked_for = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
  return asked_for != nullptr && ::realpath(asked_for, path) != nullptr ? path : std::string();
}

}  // namespace clump::base
