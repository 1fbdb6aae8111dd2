// The hosts of a job, as the user names them: `--host a:4,b:4`, or a file with one in each line.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

struct Host {
  std::string name;
  int slots = 0;  ///< so many ranks; 0: not said
};

/// Adds the hosts of a list to `hosts`; one that is there already gets more slots. `option` is named in
/// errors.
base::Status parse_hosts(const std::string& option, const std::string& list, std::vector<Host>& hosts);
/// The same from a file. '#' begins a comment.
base::Status read_hostfile(const std::string& option, const std::string& path, std::vector<Host>& hosts);

/// How many of `ranks` ranks each host gets, in blocks: `per_host`, or its slots in turn, or as equal parts
/// as can be. Where there are more ranks than slots, all hosts get as many more, in proportion.
base::Status divide(const std::vector<Host>& hosts, int per_host, int ranks, std::vector<int>& counts);

}  // namespace clump::mpiexec
