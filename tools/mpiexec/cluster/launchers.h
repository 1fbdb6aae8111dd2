// The launchers that a process starts, below one supervisor, and the hosts that are reached by the line of
// each: mpiexec's, or those of a proxy that starts proxies (branches.h). Where a job has many hosts, mpiexec
// starts the proxies of some, and each of these starts others, so that no process has to do with more than a
// few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "cluster/launcher_line.h"
#include "common/launchers.h"
#include "common/poll_set.h"
#include "job/supervisor.h"

namespace clump::mpiexec {

/// A host by its number in the job.
struct HostName {
  std::uint32_t number = 0;
  std::string name;
};

/// Some of a job's hosts: how they are reached, and how many a process starts itself.
struct HostList {
  tools::LauncherChoice launcher;
  std::int32_t width = 0;
  std::vector<HostName> all;
  std::string starter = {};  ///< the host that starts them; empty: mpiexec does
};
std::string encode(const HostList& hosts);
bool decode(std::string_view bytes, HostList& hosts);

/// Shares them out to branches: the first host of each is started here, and starts the rest of it.
std::vector<HostList> branches_of(const HostList& hosts);
/// What the first host of a branch starts.
HostList below_first(const HostList& branch);

/// Starts the proxy of a host, which has this number in the job; `words`: what its command line has besides.
/// Its standard input and output are the stream to it (launcher_line.h), if the launcher gives one.
Process launcher_process(const tools::Launcher& launcher, const HostName& host,
                         const std::vector<std::string>& words = {});
/// The proxy of this host.
Process proxy_process(std::uint32_t number);

/// A line, and the hosts that are reached by it: the first is at its end, and starts the others' proxies.
struct Branch {
  explicit Branch(HostList list, bool is_here = false)
      : line(list.all.front().number, list.all.front().name, is_here), hosts(std::move(list)) {}
  bool has(std::uint32_t host) const;
  /// The first host has come: it is to start the others, if there are any.
  void launch_others();

  LauncherLine line;
  HostList hosts;
  bool is_over = false;  ///< nothing more comes from any of them
};

/// Of one thread; nothing blocks but stop().
class Launchers {
 public:
  std::deque<Branch> branches;

  /// The proxy of a branch is started by this process, whose descriptors are still to be made.
  Process& add(Branch& branch, Process process);
  /// Starts all that was added. `own`: descriptors of this process that launchers shall not have. `folder` is
  /// removed when they have ended.
  base::Status start(std::vector<int> own, const std::string& folder = {});
  /// Those of this object, which no other process may have.
  std::vector<int> descriptors() const;
  void add_to(tools::PollSet& all) const;
  /// Tells lines of launchers that have ended. False: what keeps them together was killed, and they with it.
  bool read_events();
  bool have_ended() const;
  /// This process will be silent: it is stopped.
  void pause();
  /// Kills what is left.
  void stop() { supervisor_.stop(); }

 private:
  std::vector<Process> processes_;    ///< to be started
  std::vector<LauncherLine*> lines_;  ///< of the processes
  Supervisor supervisor_;
};

}  // namespace clump::mpiexec
