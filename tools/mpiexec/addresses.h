// The addresses of host processes, between the memory of this node and what PMIx knows of the others.
#pragma once

#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

class Addresses {
 public:
  void keep(const pmi::Job& job, const pmi::NodeMemory& memory) {
    job_ = &job;
    memory_ = &memory;
  }
  /// A process has told its address, or wants that of another (pmi/control.h). Does not wait.
  void note(int process);

 private:
  void tell(int process);
  void look_up(int process);

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  int told_ = 0;  // of this node's processes
};

}  // namespace clump::mpiexec
