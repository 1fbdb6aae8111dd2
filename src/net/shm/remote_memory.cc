#include "net/shm/remote_memory.h"

#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "base/process.h"
#include "base/random.h"

namespace clump::net {

namespace {

/// process_vm_readv or process_vm_writev; called until all is moved.
using Move = ssize_t (*)(pid_t, const iovec*, unsigned long, const iovec*, unsigned long, unsigned long);
bool move_solid(Move move, pid_t process, std::byte* there, std::byte* here, Count bytes) {
  while (bytes > 0) {
    const iovec mine{here, static_cast<std::size_t>(bytes)}, theirs{there, static_cast<std::size_t>(bytes)};
    const ssize_t moved = move(process, &mine, 1, &theirs, 1, 0);
    if (moved <= 0) return false;
    there += moved;
    here += moved;
    bytes -= moved;
  }
  return true;
}

bool read_solid(pid_t process, const std::byte* address, std::byte* to, Count bytes) {
  return move_solid(::process_vm_readv, process, const_cast<std::byte*>(address), to, bytes);
}

}  // namespace

void allow_siblings() noexcept { ::prctl(PR_SET_PTRACER, ::getppid(), 0, 0, 0); }

RemoteProcess this_process() {
  static const std::uint64_t secret = base::random_number();
  return {base::process_id(), reinterpret_cast<std::uintptr_t>(&secret), secret};
}

bool is_within_reach(const RemoteProcess& process) {
  std::uint64_t found = 0;
  return read_solid(process.number, reinterpret_cast<const std::byte*>(process.secret_at),
                    reinterpret_cast<std::byte*>(&found), sizeof found) &&
         found == process.secret;
}

bool read_from(pid_t process, const void* address, Count bytes, const datatype::Layout& to) {
  const auto* const from = static_cast<const std::byte*>(address);
  if (to.type->is_dense()) return read_solid(process, from, static_cast<std::byte*>(to.base), bytes);
  constexpr Count kPiece = 64 * 1024;  // small enough to stay in the cache until it is unpacked
  const auto piece = std::make_unique_for_overwrite<std::byte[]>(kPiece);
  for (Count done = 0; done < bytes;) {
    const Count now = std::min(kPiece, bytes - done);
    if (!read_solid(process, from + done, piece.get(), now)) return false;
    datatype::unpack(to, done, {piece.get(), static_cast<std::size_t>(now)});
    done += now;
  }
  return true;
}

bool write_to(pid_t process, void* address, Count bytes, const std::byte* from) {
  return move_solid(::process_vm_writev, process, static_cast<std::byte*>(address),
                    const_cast<std::byte*>(from), bytes);
}

}  // namespace clump::net
