// Names for libraries in LD_PRELOAD. ld.so divides its value at spaces and colons and replaces words that
// begin with '$', so a path that has one of these needs another name there: /proc/PID/fd/N/FILE, through the
// folder, which mpiexec keeps open.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

class PreloadNames {
 public:
  PreloadNames() = default;
  PreloadNames(const PreloadNames&) = delete;
  PreloadNames& operator=(const PreloadNames&) = delete;
  ~PreloadNames();

  /// Puts a name in the place of each path that needs one. They are valid for as long as this object and its
  /// process live. Fails with MPI_ERR_NO_SUCH_FILE and a message.
  base::Status replace(std::vector<std::string>& libraries);

 private:
  std::map<std::string, int> folders_;  ///< open ones
};

}  // namespace clump::mpiexec
