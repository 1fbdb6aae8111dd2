// Reading and writing the memory of another process (process_vm_readv, process_vm_writev), where the system
// allows it: both or neither.
#pragma once

#include <sys/types.h>

#include "datatype/datatype.h"

namespace clump::net {

/// Lets processes with the same parent access this process's memory, on systems where only direct ancestors
/// may (Yama). Each process calls it before others try.
void allow_siblings() noexcept;

/// Copies `bytes` bytes at `address` in `process` to the packed bytes [0, bytes) of `to`. False if this
/// process is not allowed to, or not all of the memory is there: then `to` has a part of it, or nothing.
bool read_from(pid_t process, const void* address, Count bytes, const datatype::Layout& to);

/// Copies `bytes` bytes from `from` to `address` in `process`. False as above.
bool write_to(pid_t process, void* address, Count bytes, const std::byte* from);

}  // namespace clump::net
