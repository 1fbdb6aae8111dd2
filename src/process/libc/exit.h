// The end of a rank. For the host library, and for files of this layer that take part in it.
#pragma once

#include <cstdint>

#include "fiber/identity.h"

namespace clump::image {

class Image;

/// Runs the destructors of the calling thread's thread-local objects that belong to private objects' code.
void destruct_thread_locals();

/// Called when a thread of the rank has ended and the rank goes on. If no other thread of the rank is left,
/// the rank exits as by exit(0), and this does not return.
void thread_of_rank_ends(fiber::Identity& rank);

/// To be called before the rank's main(): exit handlers that libraries register from here on run before
/// their destructors, in the order of all handlers.
void note_main_begins(const fiber::Identity& rank);

/// How a rank has left.
enum class ExitKind : std::uint8_t {
  kExit,       ///< exit(), or return from main: exit handlers and destructors have run
  kQuickExit,  ///< quick_exit(): its handlers have run
  kImmediate,  ///< _exit(), _Exit()
};

/// Decides what the end of a rank means for the process; set by the runtime. Called on the thread that has
/// left, with its output flushed. Must not return, except after kExit in a process without images, which the
/// C library ends.
using ExitHook = void (*)(fiber::Identity* rank, int code, ExitKind kind);
void set_exit_hook(ExitHook hook);
/// Makes the C library call the exit hook when its last exit handler and the last destructor have run,
/// whatever function of its own ends the process. Once, in a process without images, by the first
/// constructor.
void see_exit_of_process();

/// Ends the process as the C library's exit does: destructors of shared libraries run.
/// All ranks have left.
[[noreturn]] void end_process(int code);
/// Ends the process as the C library's _exit does, without any hook.
[[noreturn]] void exit_process(int code);

/// False before ranks may leave (set_exit_hook), and in a child that a rank has forked.
/// Async-signal-safe.
bool in_host_process();

/// The calling thread ends its rank. Other threads that try wait until the process ends.
void claim_leaving(Image& image);

}  // namespace clump::image
