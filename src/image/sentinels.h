// Sentinels of Fortran: the variables whose addresses are MPI_BOTTOM, MPI_IN_PLACE, MPI_STATUS_IGNORE and
// their kin.
//
// In mpif.h they are common blocks, which each object that includes it defines. MPI's library for Fortran
// compares the addresses that it gets with those that its own references are bound to, so all references of a
// rank have to be bound to one definition. ld.so does that within one scope. Here is done what it leaves:
// - an object that comes by dlopen() finds its own definition first, and the library for Fortran, which is
//   there already, has another one: bind_sentinels();
// - references of an object that was linked with -Bsymbolic are bound to its own definition by the linker, so
//   the library for Fortran is told of it: add_own_sentinels();
// - copies of several libraries are bound anew for each rank: is_sentinel() (binding.cc).
// The library has both its table and the place for what it is told under names that are looked up
// (bindings/fortran/sentinel_table.h).
#pragma once

#include <link.h>

namespace clump::image {

class Image;

/// Whether a variable of this name is a sentinel, in any of the ABIs: a rank has one definition of it.
bool is_sentinel(const char* name);

/// Binds the references of an object that has come in to the definitions of the library for Fortran that it
/// uses: of one that it needs, or else of the first that is loaded. Does nothing if there is none. ld.so's list
/// must not change meanwhile. In a process of one rank the object's constructors have run by then.
void bind_sentinels(const link_map& object);

/// If the object keeps its own definitions (-Bsymbolic): tells the library for Fortran of them, in the rank's
/// copies of both. The rank's image has these copies already. Returns whether there were any; then the object
/// has to stay loaded, as an address that is used again would be taken for the sentinel.
bool add_own_sentinels(const link_map& object, Image& image);

/// The same for all objects that are loaded, in a process that is one rank.
void add_linked_sentinels();

}  // namespace clump::image
