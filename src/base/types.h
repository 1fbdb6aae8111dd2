// Words that every layer uses.
#pragma once

#include <cstdint>

#include "mpi.h"

namespace clump {

/// Bytes or elements; as wide as the widest count of the standard.
using Count = MPI_Count;

/// Marks what libclump_host.so offers to libmpi_abi.so.
#define CLUMP_HOST_API __attribute__((visibility("default")))

}  // namespace clump
