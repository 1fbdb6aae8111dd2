// What Clump's own libraries call is the C library's and their own, whatever the program or an interposer
// (interposers.h) defines under the same name: those functions are one rank's, and what they count or hold is
// what that rank has called.
#pragma once

#include <link.h>

#include <cstdint>

namespace clump::image {

/// Binds references of a loaded library anew, those that ld.so has made read-only too: `choose` is given what
/// a word is bound to and the symbol's name, and returns the address to bind it to instead, or null.
/// Allocates nothing.
using ChooseDefinition = const void* (*)(const void* context, std::uintptr_t bound, const char* name);
void bind_anew(const link_map& library, ChooseDefinition choose, const void* context);

/// Binds the references of libclump_host.so and libmpi_abi.so.1 that ld.so has bound to the program or to an
/// interposer anew: to the first definition from libclump_host.so on. An allocator that the program defines
/// stays: the C library allocates from it too, and we free what it returns. Where ld.so has not bound all
/// (LD_BIND_NOW), does nothing. Before anything else is called and before other threads; allocates nothing.
void keep_own_calls(char** environment);

}  // namespace clump::image
