// What the C library is told about the Fortran compiler (MPI-5.0 section 20.3).
#pragma once

namespace clump::fortran {

/// Tells the C library, if nobody has, the sizes of Fortran's types and the values of .TRUE. and .FALSE..
/// Called when Fortran has initialised MPI: libraries of the MPICH family answer these questions no earlier.
void tell_about_compiler();

}  // namespace clump::fortran
