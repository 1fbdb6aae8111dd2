// What only Fortran has, as Open MPI's modules have it.
#include "arguments.h"

using namespace clump::fortran;  // NOLINT: nobody includes this file

CLUMP_BOTH(f_sync_reg, (void*)) {}
