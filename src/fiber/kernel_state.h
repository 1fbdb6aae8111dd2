// What the kernel keeps for each of its threads, and a program expects of its thread of control: working
// directory, file mode mask, signal mask. A worker thread that resumes a fiber takes on what that fiber has
// set.
//
// Hardly any program changes these, so a fiber has a pointer to what it has set, null if that is nothing, and
// a switch compares this pointer with the worker thread's. A KernelState never changes: whoever sets
// something gets a new one. It is counted by the fiber and by the worker threads that have taken it on.
//
// A worker thread must have a directory and a mask of its own (unshare(CLONE_FS)), and begin as the process
// did. What fibers set for themselves may be set in signal handlers, where POSIX allows the call.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/types.h"

namespace clump::fiber {

class WorkerThread;
struct KernelState;

/// Notes what the process began with, which fibers go back to that have set nothing. Once, before the first
/// fiber, by a thread that has changed nothing yet.
CLUMP_HOST_API void note_beginning();

/// What a worker thread has taken on: beside Worker thread's definition.
KernelState*& taken_on(WorkerThread& worker_thread) noexcept;

/// Makes the calling kernel thread, which has taken on `has`, have `wanted`, and `has` say so. Keeps errno.
/// By the scheduler, when they differ.
void take_on(KernelState*& has, KernelState* wanted) noexcept;

// What a fiber sets for itself. All but these two are the C library's functions of the same purpose.

/// 0, or -1 with errno.
CLUMP_HOST_API int change_directory(int relative_to, const char* path);
CLUMP_HOST_API mode_t change_file_mask(mode_t mask);
/// A set of signals as the kernel has it: signal n is bit n - 1.
CLUMP_HOST_API void set_signal_mask(std::uint64_t mask);

/// Gives the calling kernel thread a directory and a file mode mask of its own, and those of `state`: for a
/// thread that a fiber with this state has made. The signal mask it has inherited. After note_beginning().
CLUMP_HOST_API void inherit(KernelState* state);
/// For as long as a thread that inherit()s it may begin. Null is nothing.
CLUMP_HOST_API void retain(KernelState* state) noexcept;
CLUMP_HOST_API void release(KernelState* state) noexcept;

// Kernel threads that fibers have left, and the worker threads that run them.

/// The kernel writes the number of the core that a thread runs on into the thread's memory (rseq); this ends
/// that. A fiber's own kernel thread would tell lies there, and a worker thread's is of no use. By a worker
/// thread when it begins.
CLUMP_HOST_API void unregister_rseq() noexcept;
/// The same, and keeps the number for own_kernel_thread(). By a thread that becomes a fiber, before it leaves
/// its kernel thread.
CLUMP_HOST_API void prepare_to_be_left() noexcept;

/// What gettid() says to a fiber: the number of the kernel thread that is its own, though others run it.
/// That one's affinity is what the fiber sees as its cores, and passes on to threads that it makes. For
/// others, the calling thread's number.
CLUMP_HOST_API pid_t own_kernel_thread() noexcept;
/// In a child that fork() has made: there the fiber is an ordinary thread.
CLUMP_HOST_API void forget_own_kernel_thread() noexcept;

/// The cores that the calling kernel thread may run on, and with it the threads that it makes.
CLUMP_HOST_API void set_cores_of_this_thread(std::span<const int> cores) noexcept;

}  // namespace clump::fiber
