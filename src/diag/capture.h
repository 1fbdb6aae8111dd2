// The stack of a failing rank, as places in files that mpiexec can turn into functions and lines.
//
// capture() neither allocates nor locks: it works in a signal handler, and when the heap is broken.
#pragma once

#include <cstddef>

#include "diag/python.h"
#include "fiber/world_stop.h"
#include "pmi/control.h"

namespace clump::diag {

struct Stack {
  static constexpr std::size_t kMostFrames = 64;
  pmi::FailureView::Frame frames[kMostFrames];
  std::size_t count = 0;

  std::span<const pmi::FailureView::Frame> view() const { return {frames, count}; }
};

/// The calling thread's stack, innermost first. `context` is a signal handler's third argument: the stack
/// then begins where the signal struck. Null: it begins at the caller.
void capture(Stack& stack, const void* context);

/// The innermost frame that is the interpreter's own code; none: the count of frames. Async-signal-safe.
std::size_t first_of_interpreter(const Stack& stack, const Interpreter& interpreter);

/// Puts the frames of the Python program that the calling thread runs in the place of those of its
/// interpreter and of what is outside of that. Their names are in `texts`. Async-signal-safe.
void add_python(Stack& stack, const Interpreter& interpreter, FrameTexts& texts);

/// The stack of a suspended thread of control, which stays suspended meanwhile.
void capture_behind(Stack& stack, const fiber::Registers& registers);

/// Loads what the unwinder needs, so that capture() does not have to. Once, at the start; allocates.
void prepare();

}  // namespace clump::diag
