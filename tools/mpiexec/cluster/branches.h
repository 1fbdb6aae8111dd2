// A tree of proxies: where a job has many hosts, mpiexec starts the proxies of some, and each of these starts
// others, so that no process has to do with more than a few. A proxy passes on all frames between mpiexec and
// the hosts below it (frame_stream.h). It tells mpiexec which of these have come, and which are lost.
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

/// A proxy's. Of the thread that moves its stream; only close() blocks.
class Branches {
 public:
  Branches() = default;
  Branches(const Branches&) = delete;
  Branches& operator=(const Branches&) = delete;
  ~Branches() { close(); }

  /// Starts the proxies of the hosts in this message. `own`: descriptors of this process that launchers shall
  /// not have.
  base::Status launch(std::string_view message, const std::vector<int>& own);
  /// Those of this object.
  std::vector<int> descriptors() const;
  void add_to(tools::PollSet& all) const;
  /// Moves what can be moved; what comes from below goes to `mpiexec`.
  void transfer(FrameStream& mpiexec);
  /// A frame from mpiexec is for a host below. False: there is no such host.
  bool pass_down(const Frame& frame);
  void pause();
  /// No more comes from below.
  bool are_over() const;
  void close();

 private:
  struct Branch {
    LauncherLine line;
    HostList below;
    bool is_over = false;
    explicit Branch(const HostName& host) : line(host.number, host.name, false) {}
    bool has(std::uint32_t host) const;
  };
  /// False: what keeps the launchers together was killed, and they with it.
  bool read_events();
  void lose(Branch& branch, FrameStream& mpiexec, const std::string& why);

  std::string own_host_;
  tools::Launcher launcher_;
  Supervisor supervisor_;
  std::deque<Branch> branches_;
};

}  // namespace clump::mpiexec
