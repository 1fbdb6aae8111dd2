// What calls of MPI leave to chance in an explored run (fiber/exploration.h).
#pragma once

#include "core/rank.h"
#include "fiber/exploration.h"

namespace clump::mpi {

/// Whether a call that looks once does not see yet what may be there.
inline bool overlooks(const core::Rank& self) {
  return self.is_explored() && fiber::exploration::overlooks();
}

}  // namespace clump::mpi
