// A thread may end in the middle of any function of this library: a signal handler that has interrupted the
// function calls pthread_exit(), which unwinds the stack of the thread. The functions that this library
// stands in for are C, where that works: the unwinder passes through them, and what they have not finished
// stays as it is. In C++ the instructions of a function that cannot throw are in no call site of its
// exception table, and the personality routine ends the process for them; so it would for a function that is
// noexcept.
//
// The linker binds the exception tables of libclump_host.so to __wrap___gxx_personality_v0() (--wrap). Where
// a thread ends, it passes through the places that are in no call site, as through C, unless it has a lock
// that all ranks take: these would wait for ever, so that the job ends instead. Everything else is done
// by the C++ library's own: exceptions, and the destructors at places where a thread waits or a handler runs.
#include <unwind.h>

#include <cstdint>

#include "image/fork_locks.h"

namespace {

constexpr unsigned char kOmitted = 0xff, kUleb128 = 0x01;

std::uintptr_t next_number(const unsigned char*& at) {
  std::uintptr_t number = 0;
  for (unsigned shift = 0;; shift += 7) {
    const unsigned char byte = *at++;
    number |= static_cast<std::uintptr_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) return number;
  }
}

/// Whether the place at which the frame is lies in no call site of its function's table: no exception is
/// expected there. False also for a table that GCC and Clang do not make on these machines.
bool is_in_no_call_site(_Unwind_Context* frame) {
  const auto* at = static_cast<const unsigned char*>(_Unwind_GetLanguageSpecificData(frame));
  if (at == nullptr || *at++ != kOmitted) return false;
  if (*at++ != kOmitted) (void)next_number(at);  // where the table of types is
  if (*at++ != kUleb128) return false;
  const std::uintptr_t bytes_of_table = next_number(at);
  const unsigned char* const end = at + bytes_of_table;
  int is_next_instruction = 0;  // but for a frame that a signal has interrupted
  const std::uintptr_t place =
      _Unwind_GetIPInfo(frame, &is_next_instruction) - (is_next_instruction == 0 ? 1 : 0);
  const std::uintptr_t here = place - _Unwind_GetRegionStart(frame);
  while (at < end) {
    const std::uintptr_t begin = next_number(at), bytes = next_number(at);
    (void)next_number(at);  // where its handler begins
    (void)next_number(at);  // what it does
    if (here - begin < bytes) return false;
  }
  return true;
}

}  // namespace

extern "C" {

// NOLINTBEGIN: the linker's names
_Unwind_Reason_Code __real___gxx_personality_v0(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class kind, _Unwind_Exception* thrown,
                                                _Unwind_Context* frame);

/// Called by the unwinder for each frame of this library. Any thread.
[[gnu::used]] _Unwind_Reason_Code __wrap___gxx_personality_v0(int version, _Unwind_Action actions,
                                                              _Unwind_Exception_Class kind,
                                                              _Unwind_Exception* thrown,
                                                              _Unwind_Context* frame) {
  if ((actions & _UA_FORCE_UNWIND) != 0 && is_in_no_call_site(frame) &&
      !clump::image::ForkLock::does_caller_hold_one())
    return _URC_CONTINUE_UNWIND;
  return __real___gxx_personality_v0(version, actions, kind, thrown, frame);
}
// NOLINTEND

}  // extern "C"
