#include "common/output.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <system_error>

namespace clump::tools {

namespace {

int fail(const char* name, int error) {
  std::fputs(fmt::format("{}: cannot write its output: {}\n", name, std::strerror(error)).c_str(), stderr);
  return 1;
}

}  // namespace

int run_tool(const char* name, const std::function<int()>& body) {
  try {
    const int code = body();
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    const int told = fail(name, errno);
    return code != 0 ? code : told;
  } catch (const std::system_error& error) {  // what fmt::print() throws
    return fail(name, error.code().value());
  }
}

}  // namespace clump::tools
