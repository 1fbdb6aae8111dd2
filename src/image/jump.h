// Which frames a longjmp() leaves.
#pragma once

#include <setjmp.h>

#include <cstdint>

#include "inspect/arch.h"

namespace clump::image {

/// A longjmp() that is about to begin. Of the calling thread only.
class Jump {
 public:
  /// `frame`: of the function that is called for the jump.
  Jump(const void* frame, const __jmp_buf_tag& place)
      : from_(reinterpret_cast<std::uintptr_t>(frame)), to_(arch::stack_pointer_of(place.__jmpbuf)) {}

  /// Whether it leaves a function that has not returned: one with this frame (__builtin_frame_address(0)), or
  /// one that has called a function with this frame. On its own stack a jump leads to a higher address, and
  /// all frames that are left lie between; what lies elsewhere is on another stack, which it leaves only by
  /// a jump to a lower address: from the stack of a signal handler.
  bool leaves(const void* frame) const {
    const auto place = reinterpret_cast<std::uintptr_t>(frame);
    return from_ <= to_ ? from_ <= place && place < to_ : place < to_ || place >= from_;
  }

 private:
  std::uintptr_t from_;
  std::uintptr_t to_;
};

}  // namespace clump::image
