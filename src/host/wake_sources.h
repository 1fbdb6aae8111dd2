// What may wake threads of this process besides each other: timers, child processes, signals that come from
// outside. For Tasks (tasks.h).
#pragma once

#include <string_view>

namespace clump::host {

/// What /proc/self/FILE says, as much as fits into the caller's memory; empty if it cannot be read. Does not
/// allocate.
std::string_view read_proc_file(const char* path, char* memory, std::size_t bytes);

/// Whether a signal is sure to come, or a child process may do something that wakes a thread: a timer of the
/// clock is set, or there is a child that has not ended. Timers of this process's processor time do not
/// count, as they stand still while all threads sleep. By the observer.
bool signal_will_come();

/// Whether the C library's thread for mq_notify(), which waits in this socket, may be woken: this process is
/// to be notified of the next message of a queue. True if that cannot be known, as where a queue is open for
/// writing only. By the observer.
bool notification_may_come(int socket);

/// Whether the program has a handler for a signal that another process may send at any time. Such a handler
/// may post a semaphore, and it ends a sem_wait() with EINTR. It may also wake threads by
/// std::atomic::notify_one(), which nothing tells. Any thread of no rank.
bool handles_signals_from_outside();

}  // namespace clump::host
