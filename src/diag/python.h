// The stack of a Python program: file, line and function of each frame, read in the structures of CPython.
//
// By a rank's own thread that fails, in a signal handler maybe, and by the observer of its process, while the
// interpreter runs. So nothing is called, locked or allocated, and memory is read by the kernel
// (process_vm_readv), which refuses what is not there. What the interpreter changes meanwhile may give a
// wrong line or end the stack early.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "pmi/control.h"

namespace clump::diag {

/// The interpreter of a rank. Written by the rank, once; others read it after `is_known`.
struct Interpreter {
  std::uintptr_t runtime = 0;    ///< its variable _PyRuntime
  std::uintptr_t code_type = 0;  ///< PyCode_Type
  std::uint32_t version = 0;     ///< Py_Version, as 0x030b02f0; 0: before 3.11, which has none
  std::atomic<bool> is_known{false};
};

/// Looks for the interpreter that the calling rank has loaded.
void find_interpreter(Interpreter& interpreter);

/// Memory for names, which frames point into.
struct FrameTexts {
  char memory[16 << 10];
  std::size_t used = 0;
};

/// Writes the frames of a thread, innermost first, and returns how many. `thread`: its thread pointer; null:
/// the first thread of the interpreter. Where the stacks of this version are not known, or the
/// system refuses to read, one frame without file and line, whose function says so.
std::size_t read_python(const Interpreter& interpreter, const void* thread,
                        std::span<pmi::FailureView::Frame> frames, FrameTexts& texts);

}  // namespace clump::diag
