// The buffers that calls of a rank have given to MPI, until the operation is complete (mpiexec --check): of
// receives, and of one-sided operations.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/status.h"
#include "core/site.h"
#include "datatype/overlap.h"

namespace clump::core {

class Rank;
struct World;

/// A buffer that a call of the program has given to MPI.
struct BufferInUse {
  datatype::Layout data;
  Site site;
  const char* what = "receive buffer";
  bool is_written = true;   ///< by the operation
  datatype::Ref type = {};  ///< keeps a derived type alive, for threads of other ranks that report it

  /// "MPI_Irecv(2 x MPI_INT) at solver.c:40".
  std::string words(const World& world) const;
};

/// Finds buffers that have a byte in common which one of the operations writes. MPI forbids that (MPI-5.0
/// sections 3.7.2 and 12.3: a buffer is not touched while MPI has it). Any thread of the rank; those of other
/// ranks of the process, which access memory that this rank has put into a window, call find().
class BuffersInUse {
 public:
  /// Adds `use`, whose address is kept until remove(), and returns nothing; if another one is in its way,
  /// returns that one and adds nothing.
  std::optional<BufferInUse> add(const BufferInUse& use) {
    const datatype::Reach reach = datatype::reach_of(use.data);
    if (reach.begin == reach.end) return {};
    const std::lock_guard lock(mutex_);
    if (auto other = find(use, reach)) return other;
    uses_.emplace(reach.begin, &use);
    longest_ = std::max(longest_, reach.end - reach.begin);
    return {};
  }
  /// The same without adding it.
  std::optional<BufferInUse> find(const BufferInUse& use) const {
    const std::lock_guard lock(mutex_);
    return find(use, datatype::reach_of(use.data));
  }
  /// Removes `use`. Does nothing if it was not added.
  void remove(const BufferInUse& use) {
    const std::lock_guard lock(mutex_);
    auto [at, end] = uses_.equal_range(datatype::reach_of(use.data).begin);
    for (; at != end; ++at)
      if (at->second == &use) return static_cast<void>(uses_.erase(at));
  }

 private:
  std::optional<BufferInUse> find(const BufferInUse& use, const datatype::Reach& reach) const {
    // A buffer that begins earlier than this ends before `use` begins.
    const std::intptr_t earliest = reach.begin - longest_;
    auto at = uses_.lower_bound(reach.end);
    for (int i = 0; i < kMostCompared && at != uses_.begin() && (--at)->first >= earliest; ++i)
      if ((use.is_written || at->second->is_written) && datatype::overlap(at->second->data, use.data))
        return *at->second;
    return {};
  }

  /// The most buffers that are compared with a new one, the nearest first. Columns of a matrix lie between
  /// each other, so many may have to be.
  static constexpr int kMostCompared = 64;

  mutable std::mutex mutex_;
  std::multimap<std::intptr_t, const BufferInUse*> uses_;  // by their first byte
  std::intptr_t longest_ = 0;
};

/// Whether the current call of the rank may give `use` to MPI: MPI_ERR_BUFFER if an operation in progress has
/// bytes of it, MPI_ERR_RMA_CONFLICT if they lie in a window of the rank where another one accesses them.
base::Status look_at_buffer(const Rank& rank, const BufferInUse& use);
/// The same, and adds it to the buffers in use; `use` stays until it is removed.
base::Status claim_buffer(Rank& rank, const BufferInUse& use);

}  // namespace clump::core
