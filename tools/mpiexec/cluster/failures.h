// Which failure of a job on several hosts was the first. Hosts end in any order: one that is busy tells of
// its own late, and by then another one has found that it does not answer.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <vector>

#include "hang/control_messages.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread.
class Failures {
 public:
  using Cause = ControlReply::Cause;
  /// The job fails at this host, with this exit code. Only the first call for a host counts.
  void note(std::size_t host, int code, Cause cause = Cause::kOwn);
  /// What there is to say of that, when the host has ended; empty: nothing.
  void explain(std::size_t host, std::string why);
  /// The host has ended; `all`: so have all others. What is to be said by now, in this order: those that do
  /// not follow from others, as they were noted; then the others. What several say alike is said once.
  std::vector<std::string> end(std::size_t host, bool all);
  /// Of the first that does not follow from others, or else of the first; 0: there is none.
  int code() const { return code_of(Cause::kUnreachable); }
  /// The same where a signal ends the job: it counts more than that others cannot be reached.
  int code_after_signal() const { return code_of(Cause::kElsewhere); }

 private:
  struct Entry {
    std::size_t host;
    int code;
    Cause cause;
    bool has_ended = false;
    std::string why = {};
  };
  int code_of(Cause last) const;  ///< without what has a later cause

  std::vector<Entry> entries_;  ///< as they were noted
  std::set<std::string> said_;
};

}  // namespace clump::mpiexec
