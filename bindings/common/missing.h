// Functions that a family has beside the standard's and that Clump lacks. They are there so that programs
// that may call them start, and end the call with an error that has their name.
#pragma once

#include <cstdio>

#include "abi_library.h"
#include "entry.h"
#include "family.h"

namespace clump::facade {

inline int missing(const char* name) {
  std::fprintf(stderr, "%s is an extension of %s's that Clump does not have\n", name, kFamily);
  return program_code(abi::Comm_call_errhandler()(MPI_COMM_SELF, MPI_ERR_UNSUPPORTED_OPERATION));
}

}  // namespace clump::facade

#define CLUMP_MISSING(name) \
  CLUMP_ENTRY(int, name, ()) { return clump::facade::missing(#name); }
