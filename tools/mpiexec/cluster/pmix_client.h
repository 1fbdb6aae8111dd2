// A proxy's use of PMIx, for the host processes of its node in a job of several nodes. It publishes their
// addresses, looks up those of other nodes, holds two fences with all other proxies, and announces processes
// that have ended without calling MPI_Init.
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <semaphore>
#include <vector>

#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// The first fence ends when all addresses are published: PRRTE's server answers seconds late if it is asked
/// before. The second one ends when all processes are done with the network. They never overlap, as PMIx
/// cannot tell two fences of the same processes apart. Owned by mpiexec's only thread. Only wait_for_all()
/// blocks.
class PmixClient {
 public:
  base::Status open(const pmi::Job& job, const pmi::NodeMemory& memory);
  /// A process has told its address, or wants that of another (pmi/control.h).
  void note_address(int process);
  /// A process of this node will not use the network any more: it has said so, or has ended.
  void note_end(int process);
  /// Some addresses are wanted that may not be told yet: look_again() must be called now and then.
  bool has_wanted() const { return !wanted_.empty(); }
  void look_again();
  /// A process of this node has ended, and a rank of it never called MPI_Init: all nodes have to know.
  void note_absent(int process);
  /// Another node's may have told the same, if this can be read; -1 before open().
  int descriptor() const { return absent_[0]; }
  /// The process; -1 if there is none that has not been taken.
  int take_absent();
  /// Waits for all processes of all nodes to be done; false: they are not, after so long.
  bool wait_for_all(std::chrono::milliseconds most) { return over_.try_acquire_for(most); }

 private:
  using Clock = std::chrono::steady_clock;
  void tell(int process);
  void look_up(int process);
  /// Begins the next fence if it is time.
  void begin_fence();
  void all_are_told();
  void all_are_done();

  const pmi::Job* job_ = nullptr;
  const pmi::NodeMemory* memory_ = nullptr;
  enum class Stage { kTelling, kFirstFence, kWorking, kLastFence };
  std::mutex mutex_;                // the next three are PMIx's thread's, too
  std::vector<bool> told_, ended_;  // of each of this node's processes
  Stage stage_ = Stage::kTelling;
  std::atomic<bool> all_told_{false};  // of all nodes'
  std::vector<int> wanted_;            // until all are told
  Clock::time_point wanted_since_;
  std::binary_semaphore over_{0};
  int absent_[2] = {-1, -1};  ///< a pipe
};

}  // namespace clump::mpiexec
