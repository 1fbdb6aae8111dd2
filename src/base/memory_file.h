// Files in memory that no other process finds by a name.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clump::base {

/// Open for reading and writing, closed on exec, empty. Where the system forbids memfd_create: a file without
/// a name in /dev/shm, in TMPDIR or in /tmp, wherever there is room. -1, with the errno of memfd_create, if
/// there can be none. `for_code`: it will be mapped as code.
int memory_file(const char* name, bool for_code = false);

/// A file that a process has open, as it tells other processes of its host.
struct OpenFile {
  std::int64_t process, descriptor;  ///< as the process itself knows them
  std::int64_t device, inode;        ///< no other file has both
};

/// A file that this process has open; {-1, -1} is in the place of what the system does not tell.
OpenFile describe_open_file(int descriptor);

/// Opens the file that another process has open: for reading and writing, closed on exec. -1 and errno where
/// that fails; ESRCH where the number of the process is that of another one here, as it is in another PID
/// namespace.
int open_file_of(const OpenFile& there);

/// What a user can do where open_file_of() has failed. Complete sentences of an error message.
inline constexpr const char* kHowToOpen =
    "The processes of a host find each other's memory by their numbers, which count only within one PID "
    "namespace: run all ranks of the host in one (apptainer, singularity: without --pid and --containall, or "
    "one container with mpiexec in it), and with a /proc of its own (unshare: with --mount-proc)";

/// ftruncate() that fails with EFBIG, and does not raise SIGXFSZ, where RLIMIT_FSIZE (ulimit -f) allows less:
/// it counts for such files, too.
bool set_size(int file, std::size_t bytes);

}  // namespace clump::base
