// Copies and reductions of much data, by the calling thread and all threads that wait and have no other work
// (fiber/help.h). Workers that sleep are woken to help, unless the caller is inside a parallel region, where
// the rank's other threads need the cores. So in a program that calls MPI only outside of these (masteronly;
// Rabenseifner, "Hybrid Parallel Programming: Performance Problems and Chances", section 5) its cores help in
// the meantime. Any thread.
#pragma once

#include <span>

#include "datatype/datatype.h"
#include "datatype/reduce.h"
#include "fiber/help.h"

namespace clump::net {

/// The bytes for which one more worker is woken: waking one takes as long as copying a fraction of them.
inline constexpr Count kWorthWaking = 512 * 1024;

/// Wakes workers and helpers that sleep, as many as are worth waking for so many bytes.
void wake_helpers(Count bytes) noexcept;

/// Calls body(first, count) for the items [0, whole), `step` of them at a time, in any order and in several
/// threads at once; see fiber::do_together(). `bytes` is how much is moved in total.
template <typename Body>
void joint_work(Count whole, Count step, Count bytes, const Body& body) {
  if (whole <= step) return body(Count{0}, whole);
  wake_helpers(bytes);
  fiber::do_together(static_cast<std::uint32_t>((whole + step - 1) / step),
                     [&body, whole, step](std::uint32_t part) {
                       const Count first = part * step;
                       body(first, step < whole - first ? step : whole - first);
                     });
}

/// datatype::copy() of the packed bytes [offset, offset + bytes); waiting threads help if the bytes are many.
/// With fewer than kWorthWaking those at `sides` alone: a third core, which has neither side's data in its
/// caches and soon a message of its own to take, would gain little. Returns when all are copied.
void joint_copy(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes,
                fiber::Sides sides = {});
/// datatype::pack() and unpack() in the same way.
void joint_pack(std::span<std::byte> out, const datatype::Layout& from, Count offset);
void joint_unpack(const datatype::Layout& to, Count offset, std::span<const std::byte> in);

/// inout[i] = in[i] op inout[i] for `count` elements of `type`, which is the type of `kernel`.
void joint_combine(datatype::Kernel kernel, const void* in, void* inout, Count count,
                   const datatype::Datatype& type);

}  // namespace clump::net
