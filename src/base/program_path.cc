#include "base/program_path.h"

#include <dlfcn.h>
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

const std::string& own_file() {
  static const auto& file = *new std::string([]() -> std::string {
    Dl_info info{};
    char path[PATH_MAX];
    if (::dladdr(reinterpret_cast<const void*>(&own_file), &info) == 0 || info.dli_fname == nullptr)
      return {};
    if (info.dli_fname[0] == '/') return info.dli_fname;
    return ::realpath(info.dli_fname, path) != nullptr ? path : "";
  }());
  return file;
}

}  // namespace clump::base
