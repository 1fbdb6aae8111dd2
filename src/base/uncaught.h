// Exceptions that nothing catches, in a library or program of ours: each has a C++ runtime of its own.
#pragma once

#include <string>

namespace clump::base {

/// Has std::terminate() of the calling library call `tell`, which does not return, with words for the
/// exception in flight: where memory has run out, the limit that is in force. Does nothing where a sanitizer
/// has one runtime for all.
void tell_uncaught(void (*tell)(std::string words));

/// "no memory is left: malloc: Cannot allocate memory: RLIMIT_AS (ulimit -v) is 200000 KiB; raise it with
/// ulimit -v unlimited"
std::string words_for_no_memory();

}  // namespace clump::base
