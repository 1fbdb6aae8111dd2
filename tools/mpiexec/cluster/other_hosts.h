// A proxy's part in what the hosts of a job tell each other through mpiexec (address_book.h): where their
// processes are reached, which have ended without MPI, and that all are done with the network.
#pragma once

#include <vector>

#include "job/run.h"
#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// Owned by the proxy's main thread; nothing blocks.
class OtherHosts {
 public:
  /// Where the job has one host, nothing is told.
  void begin(const pmi::Job& job, const pmi::NodeMemory& memory, ControlLink& mpiexec);
  /// A process of this node has told its address, or wants that of another (pmi/control.h).
  void note_address(int process);
  /// A process of this node will not use the network any more: it has said so, or has ended.
  void note_done(int process);
  /// A process of this node has ended, and a rank of it never called MPI_Init: all nodes have to know.
  void note_absent(int process);
  /// mpiexec tells the address of a process.
  void take_address(const ControlMessage& message);
  /// All processes of all nodes are done: those of this node may end.
  void end_addresses();

 private:
  void send(ControlReply::Kind kind, int process, std::string bytes = {});

  const pmi::Job* job_ = nullptr;  ///< null: there are none
  const pmi::NodeMemory* memory_ = nullptr;
  ControlLink* mpiexec_ = nullptr;
  std::vector<bool> done_;  ///< by process of this node
  bool all_done_ = false;   ///< of them
};

}  // namespace clump::mpiexec
