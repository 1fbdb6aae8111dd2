// stdin, stdout and stderr of a process that began without some of them, as daemons and batch systems start
// programs (`>&-`).
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace clump::base {

/// Opens /dev/null where descriptor 0, 1 or 2 is closed. Without it the next file, pipe or socket of ours
/// gets that number, and what the program prints goes there. Before anything else is opened.
inline void keep_standard_descriptors() noexcept {
  int opened = 0;
  do {
    opened = ::open("/dev/null", O_RDWR);
  } while (opened >= 0 && opened <= STDERR_FILENO);
  if (opened > STDERR_FILENO) ::close(opened);
}

}  // namespace clump::base
