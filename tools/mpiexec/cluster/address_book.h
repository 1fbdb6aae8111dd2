// What the hosts of a job tell each other, at mpiexec: where their processes are reached, which have ended
// without MPI, and which hosts are done with the network. A host is told an address that it has asked for, as
// soon as it is known.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "hang/control_messages.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread.
class AddressBook {
 public:
  explicit AddressBook(const pmi::Job& job)
      : job_(job), entries_(job.processes.size()), done_(job.nodes.size(), false) {}

  /// A message for hosts.
  struct Answer {
    ControlMessage message;
    std::vector<std::size_t> hosts;
  };
  /// What follows from this reply of a host, if anything does. Replies of other kinds say nothing here.
  std::optional<Answer> take(std::size_t host, const ControlReply& reply);

 private:
  struct Entry {
    std::optional<std::string> address;
    std::vector<std::size_t> wanted_by;
  };
  std::vector<std::size_t> all_but(std::size_t host) const;

  const pmi::Job& job_;
  std::vector<Entry> entries_;  ///< by process
  std::vector<bool> done_;      ///< by host
};

}  // namespace clump::mpiexec
