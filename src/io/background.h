// Background work: kernel threads that do what would block a rank, on any core of the process. They start
// with the first work that needs them, and live as long as the process.
#pragma once

#include <cstdint>
#include <functional>

#include "fiber/help.h"

namespace clump::io {

/// Has one of the threads call `work`, soon and once. Until it is done, it counts as an awake thread of the
/// process (fiber/awake_threads.h): ranks that wait for it are in no deadlock. False: there are no threads,
/// and nothing has happened. Any thread; does not block.
bool do_in_background(std::function<void()> work);

/// Has threads that have nothing to do take part in a shared loop of `parts` parts, which the caller begins
/// at once: workers and helpers that sleep, and on cores that have none of these a thread of the background.
/// Any thread; does not block.
void ask_for_help(std::uint32_t parts);

/// fiber::do_together() with a thread on each core of the process, for parts that take much longer than
/// waking a thread. A part may block in the kernel, but waits for no other part.
template <typename Body>
void do_on_all_cores(std::uint32_t parts, const Body& body) {
  ask_for_help(parts);
  fiber::do_together(parts, body);
}

}  // namespace clump::io
