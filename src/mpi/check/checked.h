// Collective operations under --check: before its body, the entry point of each one says here what the rank
// calls (coll/check/check.h). Those that move data do so with the arguments of the body, as bodies.h declares
// them; of the others, all that can differ is which one is called.
#pragma once

#include <memory>

#include "base/status.h"
#include "coll/check/check.h"
#include "core/rank.h"

namespace clump::mpi {

/// How it was called.
struct Called {
  const char* name;
  const void* site;  ///< where the entry point returns to
  /// Where the check goes if the call does not block, and leaves it to the operation. Null: it blocks.
  std::unique_ptr<coll::Check>* later = nullptr;
};

namespace checked {

inline bool wanted(const core::Rank& self) {
  return self.collectives.checked.load(std::memory_order_relaxed);
}

/// All ranks of the communicator have to call it.
[[gnu::cold]] base::Status together(core::Comm& comm, const Called& called);
/// All ranks of the World model have to.
[[gnu::cold]] base::Status together(core::Rank& self, const Called& called);

}  // namespace checked
}  // namespace clump::mpi
