// Rounds: a collective access to a file, as the ranks of one process meet for it (MPI-5.0 section 14.4.2).
//
//   each rank: Part (its Access) --> meet() --> the last one to come gets the Round, with the parts of all
//   run_here(): the file is cut into file domains of cb_buffer_size; for each the parts' data is copied,
//   layout to layout, to or from a buffer, and the buffer is written or read by one system call
//
// The file domains are parts of a shared loop (fiber/help.h), so that ranks that wait do some of them.
#pragma once

#include <memory>
#include <vector>

#include "core/request.h"
#include "fiber/completion.h"
#include "io/hints.h"
#include "io/opened.h"
#include "io/transfer.h"

namespace clump::io {

/// What one rank brings. Belongs to its call or to its request, until end() was called.
class Part {
 public:
  Access access;
  Count done = 0;       ///< bytes that were moved
  base::Status status;  ///< a failure from before the round counts as one of the round

  /// Called once, by any thread, when `done` and `status` are written. The last access of the round.
  virtual void end() = 0;

  bool is_empty() const { return access.bytes == 0; }

 protected:
  ~Part() = default;
};

class Round {
 public:
  explicit Round(std::size_t members) : parts(members) {}

  std::vector<Part*> parts;  ///< by OpenedFile::index_of()
  std::size_t arrived = 0;
  fiber::Completion gathered;  ///< signalled for a leader that waits for the others

  /// The first failure of a part.
  base::Status failure() const;
  /// Gives all parts `outcome` and ends them, but for `own`, which is the caller's.
  void end(base::Status outcome, const Part* own);
};

/// Brings the caller's part to round `number` of the file. The last of the process's ranks gets the round,
/// and has to see to it; the others get null. `leads`: the caller is a leader that will see to the round; it
/// gets the round in any case, and waits for the others.
std::unique_ptr<Round> meet(OpenedFile& file, std::uint64_t number, int rank, Part& part);
std::unique_ptr<Round> meet_as_leader(OpenedFile& file, std::uint64_t number, int rank, Part& part);

/// What the parts of a process have in common, or of several processes.
struct Extent {
  Count begin = 0, end = 0;  ///< of the file; nothing if they are equal
  Count bytes = 0;           ///< of all parts
  Count blocks = 0;          ///< about how many, side by side in the file
  bool ordered = true;       ///< all views are
  void add(const Part& part);
  void add(const Extent& other);
  /// Whether each part does better on its own: its blocks are long, or nobody else is near.
  bool is_coarse() const;
};

/// How a round is carried out.
struct Manner {
  Direction direction = Direction::kRead;
  Hints::Collective use = Hints::Collective::kAutomatic;
  Count domain_bytes = 1 << 20;
  bool atomic = false;
};

/// Moves the data of all parts of this process, which all have the same direction. Blocks in the kernel; any
/// thread. Writes `done` and `status` of the parts; the result is the first failure.
base::Status run_here(OpenedFile& file, Round& round, const Manner& manner);
/// The same, each part by itself.
base::Status run_each(OpenedFile& file, Round& round, const Manner& manner);

/// One access, under a lock in atomic mode.
base::Status transfer_locked(OpenedFile& file, const Access& access, bool atomic, Count& done);
/// The size of the file; negative: it has none, as a device.
Count size_of(const Target& target);
/// How many bytes of a read are in a file of this size.
Count bytes_before(const Access& access, Count file_size);

/// Copies between a part's memory and a file domain: `domain` is the memory for bytes [begin, end) of the
/// file, and the part's view bytes are [first, last).
void copy_domain(const Access& access, std::byte* domain, Count begin, Count first, Count last);

}  // namespace clump::io
