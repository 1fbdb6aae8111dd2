// Background work: a few kernel threads that do what would block a rank. They start with the first piece of
// work and live as long as the process.
#pragma once

#include <functional>

namespace clump::io {

/// Has one of the threads call `work`, soon and once. Until it is done, it counts as an awake thread of the
/// process (fiber/awake_threads.h): ranks that wait for it are in no deadlock. False: there are no threads,
/// and nothing has happened. Any thread; does not block.
bool do_in_background(std::function<void()> work);

}  // namespace clump::io
