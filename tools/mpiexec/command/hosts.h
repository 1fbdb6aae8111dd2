// The hosts of a job, as the user names them: `--host a:4,b:4`, or a file with one in each line.
#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"

namespace clump::mpiexec {

struct Host {
  std::string name;
  int slots = 0;  ///< so many ranks; 0: not said
  /// Each time that it is named: the place in the whole list, and so many of the slots. None: once, in the
  /// order of the hosts.
  struct Turn {
    std::size_t place = 0;
    int slots = 0;
  };
  std::vector<Turn> turns = {};
  // What the name means from here: host_names.h finds it out.
  bool is_here = false;  ///< it is this host
  /// Numeric, as the resolver orders them, without those that this host has, too. None: it is this host, or
  /// they are unknown.
  std::vector<std::string> addresses = {};

  /// The first of them; empty: there is none.
  std::string address() const { return addresses.empty() ? std::string() : addresses.front(); }
};

/// Places in the list of all hosts, in the order in which they are named.
struct HostRange {
  std::size_t begin = 0, end = 0;
  bool is_empty() const { return begin == end; }
};
inline constexpr HostRange kAllHosts{0, std::numeric_limits<std::size_t>::max()};
/// How many hosts have been named so far.
std::size_t places_of(const std::vector<Host>& hosts);

/// The host is named once more: adds slots and turns.
void add_to(Host& host, const Host& once_more);
/// The next one of a list.
void add_host(std::vector<Host>& hosts, Host host);

/// Adds the hosts of a list to `hosts`; one that is there already gets more slots. `option` is named in
/// errors.
base::Status parse_hosts(const std::string& option, const std::string& list, std::vector<Host>& hosts);
/// The same from a file, as Open MPI and MPICH write it: '#' begins a comment, and a host with 0 slots gets
/// no rank. Adds to `without_meaning` the keys that change nothing here, each once.
base::Status read_hostfile(const std::string& option, const std::string& path, std::vector<Host>& hosts,
                           std::vector<std::string>& without_meaning);

/// In what order hosts get their ranks.
enum class MapBy {
  kSlot,  ///< one host after the other, each a block
  kNode,  ///< in turn, one rank each time, as long as a host has room
};

/// The host of each of `ranks` ranks. A host has room for `per_host` of them, or for as many as it has slots,
/// or for an equal part. Where there are more ranks than slots, all hosts get as many more, in proportion. A
/// host that is named several times gets a part each time.
base::Status divide(const std::vector<Host>& hosts, int per_host, int ranks, MapBy by,
                    std::vector<int>& host_of);

/// Ranks, the next of a job, that run on these of its hosts.
struct RanksOnHosts {
  int ranks = 0;
  HostRange hosts;
};
/// The same where ranks have hosts of their own.
base::Status divide(const std::vector<Host>& hosts, int per_host, const std::vector<RanksOnHosts>& ranks,
                    MapBy by, std::vector<int>& host_of);

/// Numbers the ranks of divide() otherwise; each host keeps as many. Open MPI's --rank-by.
void renumber(std::span<int> host_of, MapBy by);

/// By a number that is said of one of them. Others have one slot then, as in divide().
bool have_slots(const std::vector<Host>& hosts);
/// Of these together: one of a host that says nothing of them.
std::int64_t slots_of(const std::vector<Host>& hosts, HostRange places);
/// Fails if a host has fewer slots than ranks.
base::Status check_slots(const std::vector<Host>& hosts, const std::vector<int>& host_of);
/// Removes the hosts at the end that get no rank then.
void keep_used(std::vector<Host>& hosts, int per_host, const std::vector<RanksOnHosts>& ranks, MapBy by);

}  // namespace clump::mpiexec
