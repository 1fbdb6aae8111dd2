// What the ranks of one process know of a window, the same for all of them: where each rank's memory is, how
// it is reached from here, and the locks of the ranks on this node.
//
//   kMemory     The origin moves the bytes, in its own address space: ranks of the same process, and windows
//               from MPI_Win_allocate* on the node.
//   kProcess    The origin moves them by process_vm_readv and process_vm_writev: MPI_Win_create in another
//               process of the node.
//   kMessages   The target's process moves them when a message has come: other hosts, and where the system
//               forbids the above.
#pragma once

#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/memory_file.h"
#include "base/mutex.h"
#include "base/ref.h"
#include "base/types.h"
#include "datatype/datatype.h"
#include "rma/conflicts.h"
#include "rma/epoch_signals.h"
#include "rma/lock.h"

namespace clump::net {
class SharedAllocator;
}

namespace clump::rma {

/// What all ranks of a node share about one rank's part of the window. All zero at the start.
struct Control {
  /// Accumulates on elements that begin in one block of this many bytes exclude each other.
  static constexpr Count kBlock = 4096;
  static constexpr std::size_t kStripes = 8;
  struct alignas(64) Stripe {
    base::ShortMutex mutex;
  };

  alignas(64) Lock lock;
  std::array<Stripe, kStripes> stripes;

  base::ShortMutex& stripe(Count offset) {
    return stripes[static_cast<std::size_t>(offset / kBlock) % kStripes].mutex;
  }
};

/// The memory that a rank has attached to a dynamic window, as far as there is room for it here.
struct Attached {
  static constexpr int kMost = 64;
  struct Piece {
    std::uintptr_t begin, end;
  };
  base::ShortMutex mutex;
  std::int32_t count;
  std::int32_t unlisted;  ///< pieces for which there was no room
  std::array<Piece, kMost> pieces;

  /// Tells others of these pieces.
  void list(const std::vector<Piece>& all);
  /// Whether the bytes of a layout, whose base is an address of this rank's process, lie in attached pieces,
  /// as far as is known.
  bool holds(const datatype::Layout& place);
};

/// The controls of all ranks of a window on this node. They lie on the heap if these are of one process,
/// and otherwise in memory that the processes share.
class NodeControls {
 public:
  NodeControls() = default;
  NodeControls(const NodeControls&) = delete;
  NodeControls& operator=(const NodeControls&) = delete;
  ~NodeControls();

  struct Shape {
    int ranks;      ///< of the window on this node
    int window;     ///< of the window
    int processes;  ///< of the window on this node
    bool dynamic;
    std::size_t bytes() const;
  };
  /// Makes new ones; the place for other processes of the node, or 0 if there are none; negative: no room.
  std::int64_t make(const Shape& shape, net::SharedAllocator* allocator);
  /// Gives the memory of new ones back, of which no other process has learnt.
  void abandon();
  /// Those that another process of the node has made.
  void open(const Shape& shape, net::SharedAllocator& allocator, std::int64_t place);

  Control& control(int index) const { return controls()[index]; }
  LockWaiter* waiters() const { return reinterpret_cast<LockWaiter*>(controls() + shape_.ranks); }
  /// Only of a dynamic window.
  Attached& attached(int index) const {
    return reinterpret_cast<Attached*>(waiters() + (shape_.window + 7) / 8 * 8)[index];
  }

 private:
  struct Head;
  Control* controls() const { return reinterpret_cast<Control*>(base_ + kHead); }
  static constexpr std::size_t kHead = 128;

  Shape shape_{};
  std::byte* base_ = nullptr;
  net::SharedAllocator* allocator_ = nullptr;  // null: it is on the heap
  std::int64_t place_ = 0;
};

/// Memory of a window that the processes of a node share: a file in memory that no process finds by a name.
class SharedMapping {
 public:
  SharedMapping() = default;
  SharedMapping(const SharedMapping&) = delete;
  SharedMapping& operator=(const SharedMapping&) = delete;
  ~SharedMapping();

  /// The memory begins at a multiple of `alignment`, a power of two, in each process.
  struct Size {
    std::size_t bytes, alignment;
  };
  /// Makes the memory, all zero; with `shared` other processes can open() it until close(). 0, or an errno.
  int make(const Size& size, bool shared);
  /// The one that another process has made. 0, or an errno; `is_found` tells whether the file could be
  /// opened.
  int open(const base::OpenFile& there, const Size& size, bool& is_found);
  /// Ends the descriptor; the memory stays.
  void close();

  int file() const { return file_; }
  std::byte* base() const { return base_; }

 private:
  int map(const Size& size, int flags);
  std::byte* base_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;
};

enum class Reach : std::uint8_t { kMemory, kProcess, kMessages };

class Window;

/// A rank of the window, seen from this process.
struct Target {
  std::byte* base = nullptr;  ///< of its memory: the address here (kMemory) or in its own process
  Count size = 0;             ///< of a dynamic window: no meaning
  Count unit = 1;             ///< the displacement unit
  Reach reach = Reach::kMessages;
  pid_t process = 0;
  std::int32_t index_here = -1;  ///< among the window's ranks in this process; negative: it is in another one
  Control* control = nullptr;    ///< null: it is on another node
  Attached* attached = nullptr;  ///< the same, of dynamic windows only
};

struct WindowMap final : base::RefCounted {
  std::vector<Target> targets;
  NodeControls controls;
  SharedMapping memory;
  std::unique_ptr<EpochSignals> signals;  ///< among the ranks of this process
  std::unique_ptr<Conflicts> conflicts;   ///< null: nobody checks
};

}  // namespace clump::rma
