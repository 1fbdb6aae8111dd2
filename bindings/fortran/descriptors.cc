// What only Fortran has, and only where buffers come in descriptors.
#include "arguments.h"
#include "descriptor.h"

using namespace clump::fortran;  // NOLINT: nobody includes this file

CLUMP_F08TS(sizeof, (const Descriptor* x, Integer* size, Integer* ierror)) {
  *size = static_cast<Integer>(x->element_size);
  finish(ierror, MPI_SUCCESS);
}

CLUMP_F08TS(f_sync_reg, (const Descriptor*)) {}
CLUMP_ENTRY(f_sync_reg, (void*)) {}
