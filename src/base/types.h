// Words that every layer uses.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace clump {

/// Bytes or elements; as wide as the widest count of the standard.
using Count = MPI_Count;

/// A place in a program's code: the file that it lies in, and where; the same for all processes that run it.
struct CodePlace {
  const char* object = nullptr;  ///< its path; null: nobody knows
  std::uint64_t address = 0;
};

/// Marks what libclump_host.so offers to libmpi_abi.so.
#define CLUMP_HOST_API __attribute__((visibility("default")))

}  // namespace clump
