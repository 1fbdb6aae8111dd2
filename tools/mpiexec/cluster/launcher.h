// The processes that start the proxies of hosts.
#pragma once

#include <cstdint>
#include <string>

#include "common/launchers.h"
#include "job/supervisor.h"

namespace clump::mpiexec {

/// Starts the proxy of a host, which has this number in the job. Its standard input and output are the stream
/// to it (launcher_line.h).
Process launcher_process(const tools::Launcher& launcher, const std::string& host, std::uint32_t number);
/// The proxy of this host.
Process proxy_process(std::uint32_t number);

}  // namespace clump::mpiexec
