// Passes on standard input: to ranks of this host over pipes, to those of other hosts over connections to
// their proxies.
#pragma once

#include <vector>

namespace clump::mpiexec {

/// Begins to pass on all that comes from `source` to each of `targets`, which are pipes or stream sockets.
/// Closes each of them when it has got everything or is read no more, and then `source`, unless that is
/// standard input. Returns at once: a thread does it, which ends when no target is left, or with the process.
/// What a slow reader has no room for is kept, and nothing is read while no reader has got everything: memory
/// holds no more than what the slowest is behind the fastest.
void distribute_input(int source, std::vector<int> targets);

}  // namespace clump::mpiexec
