// How prterun's daemons get to other hosts: prterun starts mpiexec in ssh's place, once for each host. It
// runs ssh, has the host looked at first (common/host_trial.h), and tells the job's mpiexec which host
// failed, and why (troubles.h).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// The first word of mpiexec's command line then; a host and a command follow.
inline constexpr const char* kStartHost = "--start-host";

/// Sets variables by which prterun does so. mpiexec listens (listener.h): every host needs a way there.
base::Status start_hosts_by_ourselves(std::size_t hosts);

/// The exit code: that of ssh.
int start_host(const std::vector<std::string>& words);

}  // namespace clump::mpiexec
