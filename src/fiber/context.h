// What a thread of control is to the processor: a stack, and a thread pointer.
//
// A rank's fiber is a real thread of the C library, with a stack, a control block and thread-local storage of
// its own, whose kernel thread sleeps for good: workers run on its stack with its thread pointer. `errno`,
// `thread_local` and pthread_self() then belong to the rank, whoever runs it, and nothing that the compiler
// has cached about thread-local addresses becomes wrong, because stack and thread pointer change together.
#pragma once

#include <atomic>

namespace clump::fiber {

/// A suspended thread of control. The assembly knows this layout.
struct Context {
  void* stack = nullptr;           ///< its registers lie there
  void* thread_pointer = nullptr;  ///< FS base on x86-64, TPIDR_EL0 on aarch64
};

extern "C" {
/// Suspends the calling thread of control into `from` and resumes `to`, on the calling kernel thread. Returns
/// when somebody resumes `from`, perhaps on another kernel thread; the result is the Context which that one
/// has suspended. Keeps what the calling convention promises: registers, rounding modes (MXCSR, x87 control
/// word, FPCR), and the thread pointer.
Context* clump_switch_context(Context* from, Context* to);

/// Suspends the calling thread of control into `self`, sets `in_use` to 0 once nothing of its stack is in use
/// any more, and puts its kernel thread to sleep until the process ends. Returns, with the same result as
/// above, when somebody resumes `self`. All signals must be blocked.
Context* clump_leave_kernel_thread(Context* self, std::atomic<int>* in_use);

/// Whether user code may write the thread pointer; otherwise each switch costs a system call. x86-64 only.
extern char clump_has_fsgsbase;
}

/// Looks at what the processor and the kernel can do. Before the first switch.
void prepare_contexts();

}  // namespace clump::fiber
