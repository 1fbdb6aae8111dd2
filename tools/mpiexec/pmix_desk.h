// What this node's host processes want of PMIx, in a job of several nodes: to tell their addresses, to find
// those of others, and not to end before all have said their last.
#pragma once

#include <semaphore>
#include <vector>

#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread. Nothing waits but wait_for_all().
class PmixDesk {
 public:
  void open(const pmi::Job& job, const pmi::NodeMemory& memory);
  /// A process has told its address, or wants that of another (pmi/control.h).
  void note_address(int process);
  /// A process of this node will not use the network any more: it has said so, or has ended.
  void note_end(int process);
  /// Returns when all processes of all nodes are done.
  void wait_for_all() { over_.acquire(); }

 private:
  void tell(int process);
  void look_up(int process);

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  int told_ = 0;             // of this node's processes
  std::vector<bool> ended_;  // of each of them
  bool fenced_ = false;      // all are
  std::binary_semaphore over_{0};
};

}  // namespace clump::mpiexec
