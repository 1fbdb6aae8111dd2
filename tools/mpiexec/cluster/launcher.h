// How the proxy of a host is started: by ssh, by what the user names in its place, or by mpiexec itself if it
// is this host.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

class Launcher {
 public:
  /// Finds what reaches other hosts. Not needed where there are none.
  base::Status find();
  /// The command line that starts the proxy of a host, which has this number in the job. Its standard input
  /// and output are the stream to it (frame_stream.h).
  std::vector<std::string> words(const std::string& host, bool is_here, int number) const;
  /// "ssh", as the user has named it.
  const std::string& name() const { return name_; }

 private:
  std::vector<std::string> shell_;
  std::string name_;
};

}  // namespace clump::mpiexec
