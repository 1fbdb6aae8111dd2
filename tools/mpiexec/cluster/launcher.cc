#include "cluster/launcher.h"

#include <filesystem>

#include "base/program_path.h"
#include "cluster/proxy.h"
#include "common/remote_shell.h"

namespace clump::mpiexec {

base::Status Launcher::find() {
  CLUMP_TRY(tools::find_remote_shell(shell_));
  name_ = std::filesystem::path(shell_.front()).filename();
  return {};
}

std::vector<std::string> Launcher::words(const std::string& host, bool is_here, int number) const {
  const std::vector<std::string> proxy{kProxy, std::to_string(number)};
  if (is_here) return {base::program_path(), proxy[0], proxy[1]};
  std::vector<std::string> all = shell_;
  all.push_back(host);
  all.push_back(tools::mpiexec_there(proxy));
  return all;
}

}  // namespace clump::mpiexec
