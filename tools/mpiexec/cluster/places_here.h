// Where ranks begin on a host of several: in the directory where the user was, or the one that --wdir names,
// and at an address that the job's other hosts reach.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "command/hosts.h"
#include "common/wish.h"
#include "pmi/job.h"

namespace clump::mpiexec {

struct Places {
  std::string start;                   ///< where the user was
  std::vector<std::string> addresses;  ///< of the nodes, as mpiexec knows them
  tools::Wish interface;               ///< which of their networks is meant, where the user says so
};

/// mpiexec's side, for these hosts of the user's.
Places places_of(const std::vector<Host>& hosts, const pmi::Job& job, const tools::Wish& interface);

/// The address by which the job's other hosts reach this one: that of `places.interface`, if it is set.
/// Empty: none is known.
base::Status find_own_address(const pmi::Job& job, const Places& places, std::string& address);
/// Those of this host at an interface. Fails if there are none.
base::Status addresses_at(const tools::Wish& interface, std::vector<std::string>& addresses);

/// Goes to where the user was. Fails if what this host's ranks need is not there: a directory, or the
/// program. `exit_code` is mpiexec's then.
base::Status enter(const pmi::Job& job, const std::string& start, int& exit_code);

}  // namespace clump::mpiexec
