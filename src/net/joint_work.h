// Much data is moved and combined by everyone who waits: by the one whose turn it is, and by whoever has
// nothing better to do (fiber/help.h). Workers that sleep are woken for it, unless the caller is inside a
// parallel region, where its other threads need the cores: so a program that calls MPI only outside of these
// (masteronly; Rabenseifner, "Hybrid Parallel Programming: Performance Problems and Chances", section 5) has
// its cores work for it meanwhile. Any thread.
#pragma once

#include <span>

#include "datatype/datatype.h"
#include "datatype/reduce.h"
#include "fiber/help.h"

namespace clump::net {

/// For so many bytes one worker more is woken: to wake one takes as long as to copy a fraction of it.
inline constexpr Count kWorthWaking = 512 * 1024;

/// Wakes workers and helpers that sleep, as many as it pays for with so many bytes.
void wake_helpers(Count bytes) noexcept;

/// Calls body(first, count) for the items [0, whole), `step` of them at a time, in any order and in several
/// threads at once; see fiber::do_together(). `bytes` is what there is to move in all.
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

/// datatype::copy() of the packed bytes [offset, offset + bytes), with helpers if they are many. Returns when
/// all are copied.
void joint_copy(const datatype::Layout& to, const datatype::Layout& from, Count offset, Count bytes);
/// datatype::pack() and unpack() likewise.
void joint_pack(std::span<std::byte> out, const datatype::Layout& from, Count offset);
void joint_unpack(const datatype::Layout& to, Count offset, std::span<const std::byte> in);

/// inout[i] = in[i] op inout[i] for `count` elements of `type`, for which `kernel` is.
void joint_combine(datatype::Kernel kernel, const void* in, void* inout, Count count,
                   const datatype::Datatype& type);

}  // namespace clump::net
