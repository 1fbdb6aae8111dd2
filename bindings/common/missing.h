// Functions that a family has beside the standard's and that Clump lacks. They are there so that programs
// that may call them start, and end the call with an error that has their name. dlsym() does not find them,
// so programs that look whether they are there go without: their version, the library's first, is not the
// default (exports.map), and ld.so takes such symbols only for references that name no version.
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

#if __has_attribute(symver)
#define CLUMP_MISSING_AS(function, name)                                                      \
  extern "C" CLUMP_PUBLIC __attribute__((symver(name "@CLUMP_LACKS"), used)) int function() { \
    return clump::facade::missing(name);                                                      \
  }
#else
#define CLUMP_MISSING_AS(function, name)                  \
  __asm__(".symver " #function ", " name "@CLUMP_LACKS"); \
  extern "C" CLUMP_PUBLIC __attribute__((used)) int function() { return clump::facade::missing(name); }
#endif
#define CLUMP_MISSING(name)                   \
  CLUMP_MISSING_AS(clump_lacks_##name, #name) \
  CLUMP_MISSING_AS(clump_lacks_P##name, "P" #name)
