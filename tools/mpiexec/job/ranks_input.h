// What the host processes of this host have as standard input (--stdin): one rank reads mpiexec's own, or
// none does, or each reads all of it.
#pragma once

#include <vector>

#include "base/status.h"
#include "pmi/job.h"

namespace clump::mpiexec {

class RanksInput {
 public:
  /// `source`: mpiexec's own standard input; or a channel to mpiexec on another host (cluster/channels.h),
  /// which becomes this object's.
  RanksInput(const pmi::Job& job, int source) : job_(job), source_(source) {}
  RanksInput(const RanksInput&) = delete;
  RanksInput& operator=(const RanksInput&) = delete;

  /// Whether a rank of the host reads it.
  static bool is_read(const pmi::Job& job, const pmi::Node& host);
  /// How many descriptors of mpiexec it takes.
  static long files(const pmi::Job& job);

  /// What a process gets as its stdin; -1: mpiexec's own. With pmi::kInputForAll a process with images gets
  /// one for each of its ranks besides, in `of_ranks`; they stay this object's.
  base::Status direct(int process, int& in, std::vector<int>& of_ranks);
  /// mpiexec's descriptors, which no other process may have.
  std::vector<int> own() const;
  /// The processes have started: closes what they have got, and passes on what comes, on a thread of its own
  /// that ends when all has been read, or all readers are gone.
  void start();

 private:
  base::Status input_of_rank(int& end);

  const pmi::Job& job_;
  const int source_;
  std::vector<int> given_;  ///< to processes with images
  std::vector<int> pipes_;  ///< the ends to write to
};

}  // namespace clump::mpiexec
