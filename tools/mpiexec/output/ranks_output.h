// Where the output of the host processes of this host goes: what mpiexec makes for it, and what it does with
// what comes through it. An image takes care of its ranks' files and of tags itself (pmi/job.h).
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "base/status.h"
#include "common/poll_set.h"
#include "output/collapse.h"
#include "output/lines.h"
#include "pmi/job.h"

namespace clump::mpiexec {

class RanksOutput {
 public:
  /// `collapses`: equal lines meet here. A proxy leaves that to the mpiexec that has started it.
  RanksOutput(const pmi::Job& job, bool collapses);
  RanksOutput(const RanksOutput&) = delete;
  RanksOutput& operator=(const RanksOutput&) = delete;

  /// Makes the files of the ranks of this host, and the folders that they are in; what they held is lost.
  /// Fails with a message that names the file.
  static base::Status make_files(const pmi::Job& job);
  /// How many descriptors of mpiexec or of a process they take.
  static long files(const pmi::Job& job);

  /// What a process gets as its stdout or stderr (`target` is 1 or 2); -1: mpiexec's own.
  base::Status direct(const pmi::HostProcess& process, int target, int& end);
  /// What is to be waited for.
  void add_to(tools::PollSet& all) const;
  std::optional<std::chrono::steady_clock::time_point> next() const;
  /// Passes on what has come, and shows what is due. Does not read what could not be passed on now, so that
  /// its process waits.
  void pass_on();
  /// The processes have ended: reads all that is there. What readers have not taken by then is in buffers().
  void finish();
  /// Those of stdout, of stderr, and of files that have output, too.
  std::vector<OutputBuffer*> buffers() const;

 private:
  struct Stream {
    int source;
    std::unique_ptr<OutputBuffer> copy;  ///< of a file that has all of it, too; null: there is none
    LineForwarder lines;
  };
  /// Reads once. 0: there is nothing now.
  static std::size_t read(Stream& stream);

  const pmi::Job& job_;
  std::optional<CollapsedScreen> screen_;
  std::deque<Stream> streams_;
  std::size_t first_ = 0;  ///< of them, to be read next
};

}  // namespace clump::mpiexec
