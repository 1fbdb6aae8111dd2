// In which order processes end. waitpid() tells of those that have ended before it is called in the order of
// their start; so the first failure of a job would be that of the lowest rank, and not its cause.
#pragma once

#include <sys/types.h>

#include <vector>

namespace clump::mpiexec {

/// Of children. Owned by one thread.
class EndOrder {
 public:
  /// From now on. Costs a descriptor. Where the system has none, next() says nothing of the child.
  void add(pid_t child);
  /// The next one that has ended, in this order, and has not been waited for; -1: there is none now.
  pid_t next();
  /// Whether next() will have it.
  bool knows(pid_t child) const;

 private:
  struct Entry {
    pid_t child;
    int descriptor;
  };
  std::vector<Entry> entries_;
  int queue_ = -1;  ///< epoll: descriptors become ready in the order in which their processes end
};

}  // namespace clump::mpiexec
