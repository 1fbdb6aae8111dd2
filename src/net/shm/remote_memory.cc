#include "net/shm/remote_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

namespace clump::net {

namespace {

bool read_solid(pid_t process, const std::byte* address, std::byte* to, Count bytes) {
  while (bytes > 0) {
    const iovec here{to, static_cast<std::size_t>(bytes)};
    const iovec there{const_cast<std::byte*>(address), static_cast<std::size_t>(bytes)};
    const ssize_t got = ::process_vm_readv(process, &here, 1, &there, 1, 0);
    if (got <= 0) return false;
    address += got;
    to += got;
    bytes -= got;
  }
  return true;
}

}  // namespace

void allow_siblings() noexcept { ::prctl(PR_SET_PTRACER, ::getppid(), 0, 0, 0); }

bool read_from(pid_t process, const void* address, Count bytes, const datatype::Layout& to) {
  const auto* const from = static_cast<const std::byte*>(address);
  if (to.type->is_dense()) return read_solid(process, from, static_cast<std::byte*>(to.base), bytes);
  constexpr Count kPiece = 64 * 1024;  // stays in the cache until it is unpacked
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPiece);
  for (Count done = 0; done < bytes;) {
    const Count now = std::min(kPiece, bytes - done);
    if (!read_solid(process, from + done, piece.get(), now)) return false;
    datatype::unpack(to, done, {piece.get(), static_cast<std::size_t>(now)});
    done += now;
  }
  return true;
}

}  // namespace clump::net
