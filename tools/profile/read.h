// From what the ranks of each host have written down (record/layout.h) to a Profile.
#pragma once

#include <cstdint>
#include <vector>

#include "pmi/job.h"
#include "profile.h"
#include "record/region.h"

namespace clump::tools::profile {

/// The same moment by the records' clock of a host, and by another one that is the same for all hosts.
struct Moment {
  std::uint64_t ticks = 0;
  std::int64_t nanoseconds = 0;
};
/// This one, on this host.
Moment now();

/// The records of one host.
struct Source {
  int host = 0;
  record::Region region;
  Moment start, end;
  double uncertainty = 0;  ///< of its clock against that of others, in seconds

  double seconds(std::uint64_t ticks) const { return static_cast<double>(ticks) * seconds_per_tick(); }
  /// Since the job's start, which was at `zero`.
  double time(std::uint64_t ticks, std::int64_t zero) const {
    return static_cast<double>(start.nanoseconds - zero) * 1e-9 +
           static_cast<double>(static_cast<std::int64_t>(ticks - start.ticks)) * seconds_per_tick();
  }

 private:
  double seconds_per_tick() const {
    return static_cast<double>(end.nanoseconds - start.nanoseconds) * 1e-9 /
           static_cast<double>(end.ticks - start.ticks);
  }
};

/// Fills in what is said of hosts and ranks.
void describe(const pmi::Job& job, Profile& profile);
void read(const Source& source, const pmi::Job& job, Profile& profile);

}  // namespace clump::tools::profile
