// The stacks of the ranks of this process, and what resource limits mean to each rank. Not for other layers.
//
// All stacks lie in one reservation of address space, from low to high addresses:
//
//   [ guard, room to grow | stack of rank 1 ][ guard, room to grow | stack of rank 2 ] ... [ guard ]
//
// Nothing but the stacks can be touched. Each begins as large as the soft limit says and can grow downwards,
// into its room, by setrlimit(). Two mappings a rank: the stack, and what lies below it. The native rank runs
// on the main thread's stack, which the kernel makes, grows and guards.
#pragma once

#include <csignal>
#include <cstddef>
#include <cstdint>

#include "host/state.h"

namespace clump::host {

/// Notes the main thread and its stack. By the main thread, before any other function of this file.
void note_main_stack();

/// Reserves address space for the stacks of all ranks but the native one. Once, before the first
/// make_stack().
void reserve_stacks();
/// The same for ranks that join: pmi::kMostJoining of them. Does nothing after the first call. Returns what
/// is wrong; an empty text if all is well.
std::string reserve_stacks_of_joining();
/// Makes the stack of `rank`, the number `index` (from 1) of this process.
void make_stack(HostedRank& rank, int index);
/// The signal stack of a rank that is a kernel thread, directly above its stack.
inline void* signal_stack_of(const HostedRank& rank) { return reinterpret_cast<void*>(rank.stack.top); }

/// Makes the stack of `rank`, which is not the native one, at least `bytes` large, as far as its room goes.
/// Any thread; async-signal-safe. Keeps errno.
void grow_stack(HostedRank& rank, std::size_t bytes);

/// Where a core file will be written: leaves out those parts of the ranks' stacks that no rank has touched. A
/// core file that goes through a pipe would hold them as zeros, all the address space that `ulimit -s
/// unlimited` gives.
void leave_untouched_stacks_out_of_core();

/// host/overflow.cc: whether a fault of the calling thread at `info.si_addr` is one of its stack, and what to
/// tell of it. Returns the length of the text, 0 if it is another fault. Async-signal-safe.
std::size_t describe_overflow(char* text, std::size_t capacity, const HostedRank* rank, const siginfo_t& info,
                              std::uintptr_t stack_pointer);

/// host/limits.cc: from now on each rank has its own resource limits. Before any but the native one begins.
void begin_own_limits();
/// Gives this process, a child that the calling rank has forked, the rank's limit.
void take_limits_after_fork();

}  // namespace clump::host
