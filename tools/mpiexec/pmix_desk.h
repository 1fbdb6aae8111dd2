// What this node's host processes want of PMIx, in a job of several nodes: to tell their addresses, to find
// those of others, and not to end before all have said their last.
#pragma once

#include <atomic>
#include <chrono>
#include <semaphore>
#include <vector>

#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// All agents meet twice: when all addresses are told, because a server that is asked for one before answers
/// seconds later, and when all processes are done. Owned by mpiexec's only thread; nothing waits but
/// wait_for_all().
class PmixDesk {
 public:
  void open(const pmi::Job& job, const pmi::NodeMemory& memory);
  /// A process has told its address, or wants that of another (pmi/control.h).
  void note_address(int process);
  /// A process of this node will not use the network any more: it has said so, or has ended.
  void note_end(int process);
  /// Some addresses are wanted that may not be told yet: look_again() must be called now and then.
  bool has_wanted() const { return !wanted_.empty(); }
  void look_again();
  /// Returns when all processes of all nodes are done.
  void wait_for_all() { over_.acquire(); }

 private:
  using Clock = std::chrono::steady_clock;
  void tell(int process);
  void look_up(int process);
  void meet();

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  std::vector<bool> told_, ended_;       // of each of this node's processes
  std::atomic<bool> all_told_{false};    // of all nodes'; PMIx's thread sets it
  bool meeting_ = false, last_ = false;  // for the first time, and for the second one
  std::vector<int> wanted_;              // until all are told
  Clock::time_point wanted_since_;
  std::binary_semaphore over_{0};
};

}  // namespace clump::mpiexec
