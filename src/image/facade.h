// Facades for libraries that a rank opens while it runs: a module of Python that is made for MPICH's ABI,
// say. For programs that are linked to such a library mpiexec preloads the facade (inspect.h), and ld.so
// binds them to it.
#pragma once

#include <link.h>

#include <string>
#include <string_view>
#include <vector>

namespace clump::image {

/// The loaded object of this SONAME, or without one and of this file name; null: there is none.
const link_map* loaded_as(std::string_view name);

/// The facade that the file, or a library that it needs and that is not loaded yet, names; empty: none. Reads
/// files.
std::string facade_needed_by(const std::string& path);

/// The facade that is opened in the place of the library of this name; empty: none is. A name without a
/// number ("libmpi.so": Rmpi opens that) is that of a library for compilers, of any family: the facade that
/// is loaded, or that for the library which would be found; MPICH's if none would be.
std::string facade_in_place_of(const std::string& name);

/// Whether it is a name of MPI's in C.
bool is_of_mpi(const char* name);
/// Whether the object names an MPI library, or is one.
bool names_mpi(const link_map& object);
/// Whether the program, or a library that was loaded at the start, names an MPI library; not `mpi` itself.
bool is_mpi_named_at_start(const link_map& mpi);
/// The first of the object and of the loaded ones that it needs, breadth first, for which `is_it` holds;
/// null: there is none.
const link_map* first_needed(const link_map& object, bool (*is_it)(const link_map&));
/// The first MPI library for C among these.
const link_map* mpi_library_of(const link_map& object);
/// Whether a loaded object is a facade for C.
bool is_facade_for_c(const link_map& object);
/// The facades in whose places ld.so has loaded other libraries, or them behind libmpi_abi.so.1, as it does
/// where mpiexec could not see what comes: behind a shell.
std::vector<std::string> facades_missing_here();
/// The libraries that ld.so has loaded before the first of those others and that define functions which one
/// of `facades` defines, too: tools, and functions of the same name. They belong before it. Reads files.
std::vector<std::string> loaded_before(const std::vector<std::string>& facades);
/// Binds the functions of MPI that the object imports to the facade that it uses. ld.so has bound them to the
/// first library that defines them, which is libmpi_abi.so.1. `global` is for an object that uses no MPI
/// library: the facade that was opened with RTLD_GLOBAL, or null.
void bind_to_facade(const link_map& object, const link_map* global);

}  // namespace clump::image
