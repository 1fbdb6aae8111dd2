#include "diag/capture.h"

#include <ucontext.h>
#include <unwind.h>

#include <cstring>

#include "image/image.h"

namespace clump::diag {

namespace {

struct Walk {
  Stack* stack;
  std::uintptr_t begin;  // earlier frames are the signal handler's and are left out; 0: all are taken
  bool begun;
};

void add(Stack& stack, std::uintptr_t address) {
  const image::Location place = image::locate(reinterpret_cast<const void*>(address));
  stack.frames[stack.count++] = {place.object, place.object != nullptr ? place.address : address};
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* argument) {
  Walk& walk = *static_cast<Walk*>(argument);
  int at_instruction = 0;
  const std::uintptr_t address = _Unwind_GetIPInfo(context, &at_instruction);
  if (address == 0) return _URC_END_OF_STACK;
  if (!walk.begun && address != walk.begin) return _URC_NO_REASON;
  walk.begun = true;
  // A return address lies behind its call, which may be the last instruction of its line or of its function:
  // the byte before it belongs to the call.
  add(*walk.stack, at_instruction != 0 ? address : address - 1);
  return walk.stack->count < Stack::kMostFrames ? _URC_NO_REASON : _URC_END_OF_STACK;
}

std::uintptr_t program_counter(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#endif
}

/// The address to which a function that has just been entered would return.
std::uintptr_t return_address(const ucontext_t& context) {
#if defined(__x86_64__)
  return *reinterpret_cast<const std::uintptr_t*>(context.uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.regs[30];
#endif
}

}  // namespace

void capture(Stack& stack, const void* context) {
  stack.count = 0;
  Walk walk{&stack, 0, true};
  if (context != nullptr) {
    const auto& interrupted = *static_cast<const ucontext_t*>(context);
    walk.begin = program_counter(interrupted);
    walk.begun = false;
    if (image::locate(reinterpret_cast<const void*>(walk.begin)).object == nullptr) {
      // A call through a wild pointer: nothing can be unwound from here, but the caller is known.
      add(stack, walk.begin);
      add(stack, return_address(interrupted) - 1);
      return;
    }
  }
  _Unwind_Backtrace(visit, &walk);
}

std::size_t first_of_interpreter(const Stack& stack, const Interpreter& interpreter) {
  // acquire: pairs with the release in find_interpreter(), which a rank may be in while the observer looks
  if (!interpreter.is_known.load(std::memory_order_acquire)) return stack.count;
  const char* const object = image::locate(reinterpret_cast<const void*>(interpreter.runtime)).object;
  const auto is_its = [object](const pmi::FailureView::Frame& frame) {
    return frame.object != nullptr && object != nullptr && std::strcmp(frame.object, object) == 0;
  };
  std::size_t inner = 0;
  while (inner < stack.count && !is_its(stack.frames[inner])) ++inner;
  return inner;
}

void add_python(Stack& stack, const Interpreter& interpreter, FrameTexts& texts) {
  const std::size_t inner = first_of_interpreter(stack, interpreter);
  const auto room = std::span(stack.frames).subspan(inner);
  if (const std::size_t found = read_python(interpreter, __builtin_thread_pointer(), room, texts); found > 0)
    stack.count = inner + found;
}

void capture_behind(Stack& stack, const fiber::Registers& registers) {
  stack.count = 0;
  Walk walk{&stack, registers.program_counter, false};
  fiber::clump_call_behind(
      &registers, [](void* argument) { _Unwind_Backtrace(visit, argument); }, &walk);
}

void prepare() {
  Stack stack;
  capture(stack, nullptr);
}

}  // namespace clump::diag
