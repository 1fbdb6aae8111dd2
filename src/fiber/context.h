// A thread of control as the processor sees it: a stack and a thread pointer.
//
// A rank's fiber is a real thread of the C library, with a stack, a control block and thread-local storage of
// its own. Its kernel thread sleeps for good: workers run on its stack, with its thread pointer. So `errno`,
// `thread_local` and pthread_self() belong to the rank, on whatever kernel thread it runs. Thread-local
// addresses that the compiler has kept stay right, because stack and thread pointer change together.
#pragma once

#include <atomic>

namespace clump::fiber {

/// A suspended thread of control. The assembly knows this layout.
struct Context {
  void* stack = nullptr;           ///< its registers are stored there
  void* thread_pointer = nullptr;  ///< FS base on x86-64, TPIDR_EL0 on aarch64
};

extern "C" {
/// Suspends the calling thread of control into `from` and resumes `to`, on the calling kernel thread. Returns
/// when a thread resumes `from`, perhaps on another kernel thread; the result is the Context that this thread
/// has suspended. Keeps what the calling convention requires: registers, rounding modes (MXCSR, x87 control
/// word, FPCR), and the thread pointer.
Context* clump_switch_context(Context* from, Context* to);

/// Suspends the calling thread of control into `self`, sets `in_use` to 0 as soon as nothing of its stack is
/// in use any more, and puts its kernel thread to sleep until the process ends. Returns, with the same result
/// as above, when a thread resumes `self`. All signals must be blocked.
Context* clump_leave_kernel_thread(Context* self, std::atomic<int>* in_use);

/// Whether user code may write the thread pointer; if not, each switch costs a system call. x86-64 only.
extern char clump_has_fsgsbase;
}

/// Finds out what the processor and the kernel can do. Before the first switch.
void prepare_contexts();

}  // namespace clump::fiber
