// Agreements among the ranks that have opened a file together: an error of one of them becomes the error of
// all.
#pragma once

#include <span>

#include "base/status.h"
#include "core/comm.h"

namespace clump::io {

/// The first failure, in the order of ranks, with its text; success if all ranks bring success. Collective.
base::Status agree(core::Comm& comm, base::Status mine);
/// The same, and MPI_ERR_NOT_SAME if `value`, the argument called `name`, is not the same everywhere.
base::Status agree_same(core::Comm& comm, base::Status mine, const char* name, Count value);

/// Bytes of all ranks, in their order; `mine` has the same size everywhere. Collective.
base::Status allgather(core::Comm& comm, std::span<const std::byte> mine, std::span<std::byte> all);
/// A number of rank 0 goes to all. Collective.
base::Status share(core::Comm& comm, Count& value);
/// Returns when all ranks have called it.
base::Status synchronize(core::Comm& comm);

template <typename T>
base::Status allgather(core::Comm& comm, const T& mine, std::span<T> all) {
  return allgather(comm, std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(all));
}

}  // namespace clump::io
