#include "common/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <system_error>

#include "base/standard_descriptors.h"
#include "base/uncaught.h"

namespace clump::tools {

namespace {

int fail(const char* name, int error) {
  print_error("{}: cannot write its output: {}\n", name, std::strerror(error));
  return 1;
}

}  // namespace

int run_tool(const char* name, const std::function<int()>& body) {
  base::keep_standard_descriptors();
  ::signal(SIGCHLD,
           SIG_DFL);  // where it is ignored the kernel waits for children, and tells nobody of their end
  static const char* const own_name = name;
  base::tell_uncaught([](std::string words) {
    print_error("{}: {}\n", own_name, words);
    ::_exit(1);
  });
  try {
    const int code = body();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    const int told = fail(name, errno);
    return code != 0 ? code : told;
  } catch (const std::system_error& error) {
    if (!std::string_view(error.what()).starts_with("cannot write")) throw;  // not what fmt::print() throws
    return fail(name, error.code().value());
  }
}

}  // namespace clump::tools
