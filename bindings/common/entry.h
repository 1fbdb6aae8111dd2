// How functions of this library are named. mpi.h of the standard's ABI declares the same names with other
// types, so in C++ a function has the prefix facade_, and the linker's name is PMPI_X, with MPI_X as its weak
// alias.
#pragma once

#include "mpi.h"

#define CLUMP_PUBLIC __attribute__((visibility("default")))
#define CLUMP_ENTRY(result, name, parameters)                                  \
  extern "C" CLUMP_PUBLIC result facade_P##name parameters __asm__("P" #name); \
  extern "C" CLUMP_PUBLIC result facade_##name parameters __asm__(#name)       \
      __attribute__((weak, alias("P" #name)));                                 \
  extern "C" result facade_P##name parameters
