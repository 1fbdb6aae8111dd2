// The PMIx client of a process: who started the job's processes, how many they are, and what each has told
// the others. libpmix (PMIx 4 or newer) is loaded by those who join, and nobody else.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::pmi {

/// There is one for each process. All functions may be called by any thread, after join() has succeeded.
namespace pmix {

/// `brought` is the client library that an installation of Clump has in its own folder, for systems that have
/// none; it need not be there. Fails with MPI_ERR_SPAWN.
base::Status join(const std::string& brought);

/// Of this process among those that were started together, and how many they are.
int rank();
int size();

/// The name of the host that each of them is on.
base::Status hosts(std::vector<std::string>& of_rank);

/// Tells all others, at exchange().
base::Status put(const char* key, std::span<const std::byte> value);
/// Returns when all processes have called it: then all have what each has put. A server that is asked for a
/// single process may take a minute (Slurm's, in a step on a part of an allocation).
base::Status exchange();
/// What another process has put before exchange().
base::Status get(int rank, const char* key, std::vector<std::byte>& value);

/// Returns when all processes have called it.
base::Status fence();
/// Has the launcher end all processes of the job. Returns when it has been told. Any time after join().
void abort(int code, const char* why);
/// The last call.
void leave();

}  // namespace pmix
}  // namespace clump::pmi
