// Calls that ld.so would bind when they are made.
#pragma once

namespace clump::image {

/// Images need all calls bound before they are made, so mpiexec sets LD_BIND_NOW. Where a library of the
/// program would not stand that (inspect.h, late_calls), mpiexec sets it to nothing, and ld.so binds a call
/// when it is made first. Then this binds all that are left, as ld.so would: all libraries are relocated by
/// now. What nothing defines stays as it is, and ld.so ends the process if it is called. Before anything else
/// is called, and before there are other threads; does nothing in a program that runs already and opens
/// Clump's library: there ld.so looks for a call in the scope of the library that makes it.
void bind_late_calls(char** environment);

}  // namespace clump::image
