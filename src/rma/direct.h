// Operations on memory that the origin reaches by itself: its own address space, or another process of the
// node. They are complete when the functions return.
#pragma once

#include <cstring>
#include <memory>

#include "base/status.h"
#include "datatype/datatype.h"
#include "datatype/reduce.h"
#include "net/joint_work.h"
#include "rma/window_map.h"

namespace clump::rma {

/// The least bytes that the origin moves together with threads that wait. A message that is shorter pays for
/// help, because two ranks wait for it; here it is one, and the helper takes half of its data out of the
/// origin's cache (docs/experiments/095-small-one-sided-operations.md).
inline constexpr Count kLeastShared = 128 * 1024;

/// Copies `bytes` packed bytes in this address space. A single value is one store, so a rank that polls it
/// sees all of it or nothing.
inline void copy_here(const datatype::Layout& to, const datatype::Layout& from, Count bytes) {
  if (to.type->is_dense() && from.type->is_dense()) {
    if (bytes == 8) return static_cast<void>(std::memcpy(to.base, from.base, 8));
    if (bytes == 4) return static_cast<void>(std::memcpy(to.base, from.base, 4));
  }
  if (bytes < kLeastShared) return datatype::copy(to, from, 0, bytes);
  net::joint_copy(to, from, 0, bytes);
}

/// Copies. `place` is where the window's bytes lie: the address here, or in the target's process. False: the
/// target's process has no such memory.
bool direct_put(const Target& target, const datatype::Layout& place, const datatype::Layout& from);
bool direct_get(const Target& target, const datatype::Layout& place, const datatype::Layout& to);

/// The elements of an accumulate, one after the other as an array of their type.
class Elements {
 public:
  /// The packed elements of a layout. `read`: their values are wanted; otherwise there is room for them only.
  Elements(const datatype::Layout& layout, const datatype::Datatype& element, bool read);
  std::byte* data() const { return data_; }
  Count count() const { return count_; }
  const datatype::Datatype& type() const { return type_; }
  /// Copies them to the layout, if they do not lie there.
  void write_back();

 private:
  const datatype::Layout layout_;
  const datatype::Datatype& type_;
  const Count count_;
  std::unique_ptr<std::byte[]> own_;
  std::byte* data_ = nullptr;
};

/// What an accumulate does with elements of one type. `result`: null, or gets what was there before.
struct Work {
  const datatype::Datatype& element;
  datatype::PredefinedOp op;
  datatype::Kernel kernel;  ///< of `op`; null for MPI_REPLACE and MPI_NO_OP
  const std::byte* operand;
  std::byte* result;
};

/// One element of a dense type, whose operand and result lie as the program has them, in this address space:
/// what direct_combine() does, without its general forms. `place` is at `offset` in the target's part of the
/// window.
void combine_one_here(const Target& target, std::byte* place, Count offset, const Work& work);

/// Combines; other ranks that combine see each element before or after. `offset` is the place of `place.base`
/// in the target's part of the window.
bool direct_combine(const Target& target, const datatype::Layout& place, Count offset, const Work& work);
bool direct_compare_and_swap(const Target& target, std::byte* place, Count offset,
                             const datatype::Datatype& element, const void* value, const void* expected,
                             void* result);

}  // namespace clump::rma
