// The processes that start the proxies of hosts.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/launchers.h"
#include "job/supervisor.h"

namespace clump::mpiexec {

/// Starts the proxy of a host, which has this number in the job; `words`: what its command line has besides.
/// Its standard input and output are the stream to it (launcher_line.h), if the launcher gives one.
Process launcher_process(const tools::Launcher& launcher, const std::string& host, std::uint32_t number,
                         const std::vector<std::string>& words = {});
/// The proxy of this host.
Process proxy_process(std::uint32_t number);

}  // namespace clump::mpiexec
