// Reading and writing the memory of another process (process_vm_readv, process_vm_writev), where the system
// allows it: both or neither.
//
// A process's number names it only in its own PID namespace. In another one, as a container for each rank
// has, the same number is no process or another one, perhaps the caller. So a process tells its number
// together with a secret (RemoteProcess), and others look for the secret before they trust the number.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "datatype/datatype.h"

namespace clump::net {

/// What a process tells others of its host about itself.
struct RemoteProcess {
  pid_t number;              ///< as the process itself knows it
  std::uintptr_t secret_at;  ///< the address, in that process, of its secret
  std::uint64_t secret;      ///< a random number: no other process has it
};

/// This process. Its secret is the same each time. Any thread.
RemoteProcess this_process();

/// Whether `process.number` is that process for the caller, and the caller may read its memory.
bool is_within_reach(const RemoteProcess& process);

/// Lets processes with the same parent access this process's memory, on systems where only direct ancestors
/// may (Yama). Each process calls it before others try.
void allow_siblings() noexcept;

/// Copies `bytes` bytes at `address` in `process`, which is within reach, to the packed bytes [0, bytes) of
/// `to`. False if this process is not allowed to, or not all of the memory is there: then `to` has a part of
/// it, or nothing.
bool read_from(pid_t process, const void* address, Count bytes, const datatype::Layout& to);

/// Copies `bytes` bytes from `from` to `address` in `process`. False as above.
bool write_to(pid_t process, void* address, Count bytes, const std::byte* from);

}  // namespace clump::net
