// Files in memory that no other process finds by a name.
#pragma once

#include <cstddef>

namespace clump::base {

/// Open for reading and writing, closed on exec, empty. Where the system forbids memfd_create: a file without
/// a name in /dev/shm, in TMPDIR or in /tmp, wherever there is room. -1, with the errno of memfd_create, if
/// there can be none. `for_code`: it will be mapped as code.
int memory_file(const char* name, bool for_code = false);

/// ftruncate() that fails with EFBIG, and does not raise SIGXFSZ, where RLIMIT_FSIZE (ulimit -f) allows less:
/// it counts for such files, too.
bool set_size(int file, std::size_t bytes);

}  // namespace clump::base
