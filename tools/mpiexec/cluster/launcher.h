// How the proxy of a host is started: by ssh, by what the user names in its place, or by mpiexec itself if it
// is this host.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

/// The exit code of the command on the other host where Clump was not found there.
inline constexpr int kClumpNotFound = 99;
/// ssh's where it fails itself, or its connection is lost.
inline constexpr int kConnectionLost = 255;

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
