#include "rma/direct.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "datatype/cursor.h"
#include "net/shm/remote_memory.h"

namespace clump::rma {

namespace {

using datatype::Datatype;
using datatype::Layout;
using datatype::PredefinedOp;

std::byte* at(std::intptr_t address) { return reinterpret_cast<std::byte*>(address); }
std::intptr_t address_of(const Layout& layout) { return reinterpret_cast<std::intptr_t>(layout.base); }

/// Whether elements of `type` lie as an array of `element` does.
bool is_array_of(const Datatype& type, const Datatype& element) {
  return &type == &element || (type.is_dense() && element.is_dense());
}

/// Calls move(address, packed offset, bytes) for the blocks of the first `bytes` packed bytes of a layout, in
/// order, until one returns false.
template <typename Move>
bool for_each_block(const Layout& layout, Count bytes, Move move) {
  if (bytes == 0) return true;
  datatype::Cursor cursor(layout, 0);
  for (Count done = 0; done < bytes;) {
    const datatype::Run& run = cursor.run();
    const Count count = run.count, block = run.block;
    for (Count i = 0; i < count && done < bytes; ++i, done += block)
      if (!move(run.address(i), done, std::min(block, bytes - done))) return false;
    if (done < bytes) cursor.skip_blocks(count);
  }
  return true;
}

/// Packed bytes here, and the blocks of a layout in another process: moved by as few system calls as can be.
class Scattered {
 public:
  enum class Way : std::uint8_t { kRead, kWrite };
  Scattered(pid_t process, std::byte* packed, Way way) : process_(process), packed_(packed), way_(way) {}

  bool move(const Layout& there, Count bytes_in_all) {
    return for_each_block(there, bytes_in_all,
                          [&](std::intptr_t address, Count, Count bytes) {
                            blocks_[used_++] = {at(address), static_cast<std::size_t>(bytes)};
                            pending_ += bytes;
                            return used_ < blocks_.size() || flush();
                          }) &&
           flush();
  }

 private:
  bool flush() {
    std::size_t first = 0;
    while (pending_ > 0) {
      const iovec here{packed_, static_cast<std::size_t>(pending_)};
      const ssize_t moved =
          way_ == Way::kRead
              ? ::process_vm_readv(process_, &here, 1, blocks_.data() + first, used_ - first, 0)
              : ::process_vm_writev(process_, &here, 1, blocks_.data() + first, used_ - first, 0);
      if (moved <= 0) return false;
      packed_ += moved;
      pending_ -= moved;
      for (auto rest = static_cast<std::size_t>(moved); rest > 0;) {
        const std::size_t part = std::min(rest, blocks_[first].iov_len);
        blocks_[first].iov_base = static_cast<std::byte*>(blocks_[first].iov_base) + part;
        blocks_[first].iov_len -= part;
        rest -= part;
        if (blocks_[first].iov_len == 0) ++first;
      }
    }
    used_ = 0;
    return true;
  }

  const pid_t process_;
  std::byte* packed_;
  const Way way_;
  std::array<iovec, 256> blocks_;
  std::size_t used_ = 0;
  Count pending_ = 0;
};

/// Combines elements that lie as an array, `n` of them at `memory`.
void combine_array(std::byte* memory, Count n, const Work& work, Count first) {
  const Count extent = work.element.extent();
  const std::byte* const operand = work.operand == nullptr ? nullptr : work.operand + first * extent;
  if (work.result != nullptr)
    std::memcpy(work.result + first * extent, memory, static_cast<std::size_t>(n * extent));
  switch (work.op) {
    case PredefinedOp::kNoOp:
      return;
    case PredefinedOp::kReplace:
      if (work.element.is_dense())
        std::memcpy(memory, operand, static_cast<std::size_t>(n * extent));
      else  // what lies between the parts of an element is not the operation's
        datatype::copy({memory, n, &work.element}, {const_cast<std::byte*>(operand), n, &work.element}, 0,
                       n * work.element.size());
      return;
    default:
      work.kernel(operand, memory, memory, n);
  }
}

/// The most bytes of another process that are brought here at a time: one block of each stripe.
constexpr Count kRemotePiece = Control::kBlock * static_cast<Count>(Control::kStripes);

/// Holds all stripes of a rank's memory. Other threads hold one at a time, or take all in the same order.
class AllStripes {
 public:
  explicit AllStripes(Control& control) : control_(control) {
    for (Control::Stripe& stripe : control_.stripes) stripe.mutex.lock();
  }
  ~AllStripes() {
    for (Control::Stripe& stripe : control_.stripes) stripe.mutex.unlock();
  }
  AllStripes(const AllStripes&) = delete;
  AllStripes& operator=(const AllStripes&) = delete;

 private:
  Control& control_;
};

/// The same in another process: brings the elements here and back. At most kRemotePiece bytes and an element.
bool combine_remote(pid_t process, std::byte* memory, Count n, const Work& work, Count first) {
  const Count bytes = n * work.element.extent();
  alignas(64) std::array<std::byte, kRemotePiece + 64> piece;
  const Layout here{piece.data(), bytes, datatype::predefined(MPI_BYTE)};
  if (!net::read_from(process, memory, bytes, here)) return false;
  combine_array(piece.data(), n, work, first);
  return work.op == PredefinedOp::kNoOp || net::write_to(process, memory, bytes, piece.data());
}

/// The same in this address space: each block under its lock.
void combine_here(Control& control, std::byte* memory, Count offset, Count n, const Work& work, Count first) {
  const Count extent = work.element.extent();
  while (n > 0) {
    // All elements that begin in the same block.
    const Count rest = Control::kBlock - offset % Control::kBlock;
    const Count now = std::min(n, (rest + extent - 1) / extent);
    {
      const std::lock_guard lock(control.stripe(offset));
      combine_array(memory, now, work, first);
    }
    memory += now * extent;
    offset += now * extent;
    first += now;
    n -= now;
  }
}

/// The same with all threads that wait, if the elements are many.
void combine_together(Control& control, std::byte* memory, Count offset, Count n, const Work& work,
                      Count first) {
  const Count extent = work.element.extent(), bytes = n * extent;
  if (bytes < kLeastShared) return combine_here(control, memory, offset, n, work, first);
  // Not a multiple of all stripes' blocks, so that threads begin with different locks.
  const Count part = (Count{Control::kStripes} + 1) * Control::kBlock / extent;
  net::joint_work(n, part, bytes, [&](Count begin, Count some) {
    combine_here(control, memory + begin * extent, offset + begin * extent, some, work, first + begin);
  });
}

/// Elements first to first + n of the operand with those at `memory`, which lie as an array.
bool combine_locked(const Target& target, std::byte* memory, Count offset, Count n, const Work& work,
                    Count first) {
  if (target.reach == Reach::kMemory) {
    combine_together(*target.control, memory, offset, n, work, first);
    return true;
  }
  const Count extent = work.element.extent();
  // Two system calls for each piece cost more than the locks of all stripes.
  while (n * extent > 2 * Control::kBlock) {
    const Count now = std::min(n, kRemotePiece / extent);
    const AllStripes lock(*target.control);
    if (!combine_remote(target.process, memory, now, work, first)) return false;
    memory += now * extent;
    offset += now * extent;
    first += now;
    n -= now;
  }
  while (n > 0) {
    const Count rest = Control::kBlock - offset % Control::kBlock;
    const Count now = std::min(n, (rest + extent - 1) / extent);
    {
      const std::lock_guard lock(target.control->stripe(offset));
      if (!combine_remote(target.process, memory, now, work, first)) return false;
    }
    memory += now * extent;
    offset += now * extent;
    first += now;
    n -= now;
  }
  return true;
}

/// One element of a dense type; most have four or eight bytes.
void copy_element(void* to, const void* from, Count bytes) {
  if (bytes == 8) return static_cast<void>(std::memcpy(to, from, 8));
  if (bytes == 4) return static_cast<void>(std::memcpy(to, from, 4));
  std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool are_equal(const void* one, const void* other, Count bytes) {
  if (bytes == 8) return std::memcmp(one, other, 8) == 0;
  if (bytes == 4) return std::memcmp(one, other, 4) == 0;
  return std::memcmp(one, other, static_cast<std::size_t>(bytes)) == 0;
}

}  // namespace

bool direct_put(const Target& target, const Layout& place, const Layout& from) {
  const Count bytes = std::min(place.bytes(), from.bytes());
  if (bytes == 0) return true;
  if (target.reach == Reach::kMemory) {
    copy_here(place, from, bytes);
    return true;
  }
  if (from.type->is_dense()) {
    if (place.type->is_dense())
      return net::write_to(target.process, place.base, bytes, static_cast<const std::byte*>(from.base));
    return Scattered(target.process, static_cast<std::byte*>(from.base), Scattered::Way::kWrite)
        .move(place, bytes);
  }
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  datatype::pack({packed.get(), static_cast<std::size_t>(bytes)}, from, 0);
  return Scattered(target.process, packed.get(), Scattered::Way::kWrite).move(place, bytes);
}

bool direct_get(const Target& target, const Layout& place, const Layout& to) {
  const Count bytes = std::min(place.bytes(), to.bytes());
  if (bytes == 0) return true;
  if (target.reach == Reach::kMemory) {
    copy_here(to, place, bytes);
    return true;
  }
  if (place.type->is_dense()) return net::read_from(target.process, place.base, bytes, to);
  if (to.type->is_dense())
    return Scattered(target.process, static_cast<std::byte*>(to.base), Scattered::Way::kRead)
        .move(place, bytes);
  const auto packed = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  if (!Scattered(target.process, packed.get(), Scattered::Way::kRead).move(place, bytes)) return false;
  datatype::unpack(to, 0, {packed.get(), static_cast<std::size_t>(bytes)});
  return true;
}

Elements::Elements(const Layout& layout, const Datatype& element, bool read)
    : layout_(layout), type_(element), count_(element.size() == 0 ? 0 : layout.bytes() / element.size()) {
  if (is_array_of(*layout.type, element)) {
    data_ = static_cast<std::byte*>(layout.base);
    return;
  }
  own_ = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(count_ * element.extent()));
  data_ = own_.get();
  if (read) datatype::copy({data_, count_, &type_}, layout_, 0, count_ * element.size());
}

void Elements::write_back() {
  if (own_ != nullptr) datatype::copy(layout_, {data_, count_, &type_}, 0, count_ * type_.size());
}

void combine_one_here(const Target& target, std::byte* place, Count offset, const Work& work) {
  const Count bytes = work.element.size();
  const std::lock_guard lock(target.control->stripe(offset));
  if (work.result != nullptr) copy_element(work.result, place, bytes);
  if (work.op == PredefinedOp::kReplace) return copy_element(place, work.operand, bytes);
  if (work.op != PredefinedOp::kNoOp) work.kernel(work.operand, place, place, 1);
}

bool direct_combine(const Target& target, const Layout& place, Count offset, const Work& work) {
  const Count size = work.element.size();
  if (is_array_of(*place.type, work.element))
    return combine_locked(target, static_cast<std::byte*>(place.base), offset, place.bytes() / size, work, 0);
  const std::intptr_t base = address_of(place);
  if (work.element.is_dense())
    return for_each_block(place, place.bytes(), [&](std::intptr_t address, Count packed, Count bytes) {
      return combine_locked(target, at(address), offset + (address - base), bytes / size, work,
                            packed / size);
    });
  // Elements of two parts with a gap: each begins with its first part.
  const Count n = place.bytes() / size;
  for (Count i = 0; i < n; ++i) {
    const std::intptr_t address = datatype::Cursor(place, i * size).run().address(0);
    if (!combine_locked(target, at(address), offset + (address - base), 1, work, i)) return false;
  }
  return true;
}

bool direct_compare_and_swap(const Target& target, std::byte* place, Count offset, const Datatype& element,
                             const void* value, const void* expected, void* result) {
  const Count bytes = element.size();
  const std::lock_guard lock(target.control->stripe(offset));
  if (target.reach == Reach::kMemory) {
    const bool equal = are_equal(place, expected, bytes);
    copy_element(result, place, bytes);
    if (equal) copy_element(place, value, bytes);
    return true;
  }
  const Layout here{result, element.size(), datatype::predefined(MPI_BYTE)};
  if (!net::read_from(target.process, place, element.size(), here)) return false;
  if (!are_equal(result, expected, bytes)) return true;
  return net::write_to(target.process, place, element.size(), static_cast<const std::byte*>(value));
}

}  // namespace clump::rma
