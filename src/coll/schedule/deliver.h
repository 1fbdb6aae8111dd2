// Sparse exchange of small records: any rank has some for any others, and none knows how many to expect.
#pragma once

#include <array>
#include <vector>

#include "base/status.h"
#include "core/comm.h"

namespace clump::coll {

/// A few ints for a rank.
struct SparseRecord {
  int to;
  std::array<int, 3> content;
};

/// Collective over an intracommunicator; blocks. Every record reaches the rank that it is for: `records` are
/// the caller's at first, and those for the caller afterwards, in no particular order.
///
/// Each rank sends and receives 2 log2(size) messages, and needs memory for what it gives, gets and passes
/// on; none for each of the other ranks.
base::Status deliver(core::Comm& comm, std::vector<SparseRecord>& records);

}  // namespace clump::coll
