// Programs that have replaced ranks by exec() before MPI_Init (host/exec.cc). Each asks for the place
// of its rank when it calls MPI. When those of all ranks have asked, the job is described anew, with a
// process for each rank, and they get their places.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "pmi/control.h"
#include "pmi/job.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread. Jobs of one host.
class Successors {
 public:
  Successors() = default;
  Successors(const Successors&) = delete;
  Successors& operator=(const Successors&) = delete;

  /// The job as it was started, and its memory. Both stay.
  void begin(const pmi::Job& job, const pmi::NodeMemory& memory);
  /// A program asks. Takes over the socket for the answer, and gives it if that is no. True when all have
  /// asked now: settle() comes next.
  bool take(const pmi::JoinNote& note, int socket);
  /// Makes the new job and tells all where they are in it. `life` and `records` are for them, too; -1: there
  /// are none.
  base::Status settle(int life, int records);
  /// That has failed.
  void refuse_all(const std::string& why);

  /// Some have asked, and wait for others.
  bool are_waiting() const { return asked_ > 0 && !has_settled_; }
  /// Whether they wait in vain, as a rank has ended without MPI: its process.
  const pmi::HostProcess* missed() const;
  /// A program has ended in order, before settle(). Others may ask, and wait in vain.
  void note_end(int rank) {
    missed_ = &before_->processes[static_cast<std::size_t>(before_->process_of(rank))];
  }

  bool has_settled() const { return has_settled_; }
  /// After settle().
  const pmi::Job& job() const { return job_; }
  const pmi::NodeMemory& memory() const { return memory_; }

 private:
  static constexpr int kNotAsked = -1, kAnswered = -2;

  bool has_asked(int rank) const { return sockets_[static_cast<std::size_t>(rank)] != kNotAsked; }
  std::string why_not(const pmi::JoinNote& note) const;
  void describe_job();

  const pmi::Job* before_ = nullptr;
  const pmi::NodeMemory* memory_before_ = nullptr;
  std::vector<int> sockets_;  // by rank
  int asked_ = 0;
  bool has_settled_ = false;
  const pmi::HostProcess* missed_ = nullptr;
  pmi::Job job_;
  pmi::NodeMemory memory_;
};

}  // namespace clump::mpiexec
