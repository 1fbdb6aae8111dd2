// Keeps the calls that Clump's own libraries make in the C library and in themselves, even if the program or
// an interposer (interposers.h) defines a function of the same name: such a function belongs to one rank, and
// what it counts or holds is what that rank has called.
#pragma once

#include <link.h>

#include <cstdint>

namespace clump::image {

/// Binds references of a loaded library anew, those that ld.so has made read-only too: `choose` is given what
/// a word is bound to and the symbol's name, and returns the address to bind it to instead, or null.
/// Allocates nothing.
using ChooseDefinition = const void* (*)(const void* context, std::uintptr_t bound, const char* name);
void bind_anew(const link_map& library, ChooseDefinition choose, const void* context);

/// Binds again those references of libclump_host.so and libmpi_abi.so.1 that ld.so has bound to the program
/// or to an interposer: to the first definition from libclump_host.so on. An allocator that the program
/// defines stays bound, because the C library allocates from it, too, and Clump frees what the C library
/// returns. Does nothing if not all references are bound (LD_BIND_NOW, late_calls.h). Before anything else is
/// called, and before there are other threads; allocates nothing.
void keep_own_calls(char** environment);

/// The same for a library that Clump has loaded for itself and that has an address `inside`: libfabric, which
/// would take a function of the program for the C library's (send). Its send() and accept() become those of
/// libclump_host.so also where that comes behind the C library (process/files/greetings.h), and its fopen()
/// does not open the kernel's symbols on a host that has no adapter to use them for. Before the library is
/// used.
void keep_calls_of_network(const void* inside);

}  // namespace clump::image
