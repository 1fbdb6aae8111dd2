// What the kernel keeps for each of its threads, and a program expects of its thread of control: working
// directory, file mode mask, signal mask. A worker thread that resumes a fiber takes on what that fiber has
// set.
//
// Hardly any program changes these. So a fiber has a pointer to what it has set, null if that is nothing, and
// a switch compares this pointer with the worker thread's. A KernelState never changes: a fiber that sets
// something gets a new one. It is reference-counted by the fiber and by the worker threads that have taken it
// on.
//
// A worker thread must have a directory and a mask of its own (unshare(CLONE_FS)), and must begin as the
// process did. What fibers set for themselves may be set in signal handlers, where POSIX allows the call.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

#include "base/types.h"

namespace clump::fiber {

class WorkerThread;
struct KernelState;

/// Notes what the process began with: fibers that have set nothing have this. Once, before the first fiber,
/// by a thread that has changed nothing yet.
CLUMP_HOST_API void note_beginning();

/// What a worker thread has taken on. Defined beside WorkerThread.
KernelState*& taken_on(WorkerThread& worker_thread) noexcept;

/// Makes the calling kernel thread, which has taken on `has`, take on `wanted`, and sets `has`. Keeps errno.
/// Called by the scheduler when the two differ.
void take_on(KernelState*& has, KernelState* wanted) noexcept;

// What a fiber sets for itself. All but the next two are the C library's functions of the same purpose.

/// Returns 0, or -1 with errno.
CLUMP_HOST_API int change_directory(int relative_to, const char* path);
CLUMP_HOST_API mode_t change_file_mask(mode_t mask);
/// Sets the signal mask. A set of signals is as the kernel has it: signal n is bit n - 1.
CLUMP_HOST_API void set_signal_mask(std::uint64_t mask);

/// Gives the calling kernel thread a directory and a file mode mask of its own, with the values of `state`:
/// for a thread that a fiber with this state has made. It has inherited the signal mask. After
/// note_beginning().
CLUMP_HOST_API void inherit(KernelState* state);
/// Keeps `state` alive for a thread that may begin later and then calls inherit(). Null: does nothing.
CLUMP_HOST_API void retain(KernelState* state) noexcept;
CLUMP_HOST_API void release(KernelState* state) noexcept;

// For kernel threads that fibers have left, and for the worker threads that run the fibers.

/// Stops the kernel from writing the number of the core on which the calling thread runs into the thread's
/// memory (rseq). For a fiber the number would be wrong, as it would be that of its own kernel thread; for a
/// worker thread it is of no use. Called by a worker thread when it begins.
CLUMP_HOST_API void unregister_rseq() noexcept;
/// The same, and keeps the kernel thread's number for own_kernel_thread(). Called by a thread that becomes a
/// fiber, before it leaves its kernel thread.
CLUMP_HOST_API void prepare_to_be_left() noexcept;

/// The number that gettid() gives to a fiber: that of its own kernel thread, although other kernel threads
/// run it. The affinity of that kernel thread is what the fiber sees as its cores, and passes on to threads
/// that it makes. For a caller that is no fiber, the calling thread's number.
CLUMP_HOST_API pid_t own_kernel_thread() noexcept;
/// Called in a child that fork() has made: there the fiber is an ordinary thread.
CLUMP_HOST_API void forget_own_kernel_thread() noexcept;

/// Sets the cores that the calling kernel thread, and the threads that it makes, may run on.
CLUMP_HOST_API void set_cores_of_this_thread(std::span<const int> cores) noexcept;

}  // namespace clump::fiber
