// What is done when a thread ends, in whatever way.
#pragma once

namespace clump::image {

/// Calls `body`, then `end`, each with `argument`. `end` is also called if the thread ends in `body`: by
/// pthread_exit(), or because it is cancelled. That unwinds the stack, and where code without unwind tables
/// (assembly, compiled at run time) is on it, the C library leaves out the rest of the stack: so a destructor
/// would not do. `end` runs at the thread's stack pointer of this call, before thread-local objects are
/// destructed. Any thread but a fiber.
void run_then_end(void (*body)(void*), void (*end)(void*), void* argument);

}  // namespace clump::image
