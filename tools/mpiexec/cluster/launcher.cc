#include "cluster/launcher.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/program_path.h"
#include "cluster/proxy.h"
#include "common/places.h"
#include "common/remote_shell.h"

namespace clump::mpiexec {

namespace {

/// For /bin/sh on the other host; $1 is the number, and $2 where mpiexec is here. There it may be in PATH only,
/// where that of another MPI may be, too. It has no single quote and no '!': the login shell, which may be any,
/// passes it on.
constexpr const char* kFindAndStart =
    R"(test -x "$2" && exec "$2" --proxy $1; m=$(command -v mpiexec) && )"
    R"(case $("$m" --version </dev/null 2>/dev/null) in *Clump*) exec "$m" --proxy $1;; esac; )"
    R"(echo "$2: not found, and no mpiexec of Clump is in PATH" >&2; exit {})";

}  // namespace

base::Status Launcher::find() {
  CLUMP_TRY(tools::find_remote_shell(shell_));
  name_ = std::filesystem::path(shell_.front()).filename();
  return {};
}

std::vector<std::string> Launcher::words(const std::string& host, bool is_here, int number) const {
  const std::string own = base::program_path();
  if (is_here) return {own, kProxy, std::to_string(number)};
  std::vector<std::string> all = shell_;
  all.push_back(host);
  all.push_back(fmt::format("exec /bin/sh -c {} sh {} {}", tools::shell_word(fmt::format(kFindAndStart, kClumpNotFound)),
                            number, tools::shell_word(own)));
  return all;
}

}  // namespace clump::mpiexec
