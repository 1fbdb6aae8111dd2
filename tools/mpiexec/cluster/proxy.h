// The proxy: mpiexec on one of several hosts, which a launcher has started (launchers.h). It runs this host's
// part of the job as mpiexec runs a job of one host.
#pragma once

#include <string>
#include <vector>

namespace clump::mpiexec {

/// The first word of mpiexec's command line then; the host's number follows. Everything else comes by the
/// stream (frame_stream.h). Where the launcher gives none, one of the others follows with its value: how the
/// proxy finds mpiexec, and gets the job's key (keys/invitation.h).
inline constexpr const char *kProxy = "--proxy", *kKeyFile = "--key-file", *kJoin = "--join";

/// The exit code; 0 also if mpiexec has been told another one.
int run_proxy(const std::vector<std::string>& words);

}  // namespace clump::mpiexec
