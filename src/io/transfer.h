// Moving data between a rank's memory and a file, by the calling thread: what all forms of access end in.
#pragma once

#include <string>

#include "base/status.h"
#include "io/view.h"

namespace clump::io {

/// What system calls are made on. Belongs to all ranks of a process that have opened the file together
/// (io/opened.h).
struct Target {
  int descriptor = -1;
  std::string name;  ///< for messages
  /// It has no places, as a pipe, and was opened with MPI_MODE_SEQUENTIAL: data goes to its end and comes
  /// from its start, and offsets mean nothing.
  bool is_stream = false;
};

enum class Direction : std::uint8_t { kRead, kWrite };

/// A rank's part of an access: the packed bytes of `memory`, from 0 on, are the view bytes from `position`
/// on. In the file's representation: what converts has done so before.
struct Access {
  Direction direction = Direction::kRead;
  datatype::Layout memory;
  base::Ref<const View> view;
  Count position = 0;
  Count bytes = 0;  ///< memory.bytes()

  /// The place of the first byte in the file, and the place behind the last. Not of an empty access.
  Count begin() const { return view->offset_of(position); }
  Count end() const { return view->offset_of(position + bytes - 1) + 1; }
};

/// Reads or writes what `access` says. Blocks in the kernel; any thread. `done` is how many bytes were moved:
/// fewer than asked for if a read meets the end of the file, or if a call fails.
base::Status transfer(const Target& target, const Access& access, Count& done);

/// How many threads of the process are inside of one of these functions: while there is one, data moves,
/// though no thread of a rank may show it. Any thread.
int transfers_under_way() noexcept;

/// pread() and pwrite() that go on after signals and short counts, over any length. A read stops at the end
/// of the file.
base::Status read_at(const Target& target, void* to, Count bytes, Count offset, Count& done);
base::Status write_at(const Target& target, const void* from, Count bytes, Count offset, Count& done);

/// Blocks of this length and longer are moved by a system call each, without a copy in between.
inline constexpr Count kDirectBlock = 32 << 10;

}  // namespace clump::io
