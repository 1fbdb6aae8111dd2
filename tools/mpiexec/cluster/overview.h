// What mpiexec does for a job on several hosts besides watching prterun (head.h): it has a connection to the
// agent on each host, sends it the plan of the job, asks them who waits for whom (watch.h), and passes on
// signals that prterun would not.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/connection.h"
#include "cluster/reception.h"
#include "hang/watch.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Where agents find it.
inline constexpr const char* kOverviewVariable = "CLUMP_OVERVIEW";

/// Owned by mpiexec's only thread; nothing blocks.
class Overview {
 public:
  Overview(const pmi::Job& job, int hang_after)
      : job_(job),
        hang_after_(hang_after),
        watch_(job, is_only_one() ? 0 : hang_after),
        reception_(job.nodes.size()),
        agents_(job.nodes.size()) {}

  /// Listens, and sets the variable.
  base::Status open() { return reception_.open(kOverviewVariable, "their plans and signals"); }
  void add_descriptors(std::vector<pollfd>& all) const;
  std::optional<std::chrono::steady_clock::time_point> alarm() const { return watch_.alarm(); }
  /// Does what there is to do now. True: the ranks are stuck, which was said, and are being ended.
  bool poll();

  /// SIGQUIT: says where all ranks are, soon.
  void ask();
  /// The agents of all hosts are connected.
  bool is_complete() const { return std::ranges::all_of(agents_, &Connection::is_open); }
  /// The agent of a host has come.
  bool has_begun() const { return has_begun_; }
  /// The job has one host, whose agent says itself where the ranks are, and why they are ended.
  bool tells_itself() const { return is_only_one() && has_begun_; }
  /// The job is to be ended from outside: where are its ranks?
  void ask_before_end();
  bool has_answered() const { return answer_.has_value(); }
  /// What is known by now; empty if that was not asked.
  std::string answer() const;
  /// By a signal, or SIGALRM for --timeout.
  void end_ranks(int why);
  /// To the ranks of all hosts.
  void pass_on(int signal);
  /// The job is ending: whatever is found from now on follows from it.
  void note_end() { is_over_ = true; }

 private:
  /// Then its agent does it all, and prints.
  bool is_only_one() const { return job_.nodes.size() == 1; }
  void read(std::size_t host);
  void tell_all(const Order& order);
  bool conclude();
  std::string unconnected() const;

  const pmi::Job& job_;
  const int hang_after_;
  Watch watch_;
  Reception reception_;
  std::vector<Connection> agents_;  // by host
  bool has_begun_ = false;
  bool is_over_ = false;
  bool asks_before_end_ = false;
  std::optional<std::string> answer_;  ///< to that
};

/// An agent's side: connects as `host`, and waits for the plan. Takes the variable out of the environment.
base::Status meet_overview(int host, Connection& line, pmi::Job& job);

}  // namespace clump::mpiexec
