// How the proxy of a host is started: by ssh, by what the user names in its place, or by mpiexec itself if it
// is this host.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/status.h"
#include "job/supervisor.h"

namespace clump::mpiexec {

class Launcher {
 public:
  /// Finds what reaches other hosts: `shell` as tools::find_remote_shell() takes it.
  base::Status find(const std::string& shell);
  /// The process that starts the proxy of a host, which has this number in the job. Its standard input and
  /// output are the stream to it (launcher_line.h).
  Process of_host(const std::string& host, std::uint32_t number) const;
  /// The proxy of this host.
  static Process of_this_host(std::uint32_t number);
  /// "ssh", as the user has named it.
  const std::string& name() const { return name_; }

 private:
  std::vector<std::string> shell_;
  std::string name_;
};

}  // namespace clump::mpiexec
