// A proxy's part in a tree of proxies (launchers.h): it passes on all frames between mpiexec and the hosts
// below it (frame_stream.h), and tells mpiexec which of these have come, and which are lost.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cluster/launchers.h"

namespace clump::mpiexec {

/// Of the thread that moves the proxy's stream; only close() blocks.
class Branches {
 public:
  Branches() = default;
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;
  ~Branches() { close(); }

  /// Starts the proxies of the hosts in this message. `own`: descriptors of this process that launchers shall
  /// not have.
  base::Status launch(std::string_view message, const std::vector<int>& own);
  /// Those of this object.
  std::vector<int> descriptors() const { return launchers_.descriptors(); }
  void add_to(tools::PollSet& all) const { launchers_.add_to(all); }
  /// Moves what can be moved; what comes from below goes to `mpiexec`.
  void transfer(FrameStream& mpiexec);
  /// A frame from mpiexec is for a host below. False: there is no such host.
  bool pass_down(const Frame& frame);
  void pause() { launchers_.pause(); }
  /// No more comes from below.
  bool are_over() const;
  void close();

 private:
  void transfer(Branch& branch, FrameStream& mpiexec);
  void lose(Branch& branch, FrameStream& mpiexec, const std::string& why);

  std::string own_host_;
  tools::Launcher launcher_;
  Launchers launchers_;
};

}  // namespace clump::mpiexec
