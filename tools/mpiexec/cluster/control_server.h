// The control server: mpiexec's end of the control connections. It sends the plan of the job to the proxy of
// each host, looks for deadlocks with them (hang_detector.h), and passes on signals, which prterun would not.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "cluster/connection.h"
#include "cluster/listener.h"
#include "common/poll_set.h"
#include "hang/hang_detector.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class ControlServer {
 public:
  ControlServer(const pmi::Job& job, int hang_after)
      : job_(job),
        hang_after_(hang_after),
        detector_(job, is_only_one() ? 0 : hang_after),
        proxies_(job.nodes.size()) {}

  /// The proxy of a host has connected: sends it the plan.
  void admit(std::size_t host, int socket);
  void add_to(tools::PollSet& all) const;
  std::optional<std::chrono::steady_clock::time_point> alarm() const { return detector_.alarm(); }
  /// Does what there is to do now. True: the ranks are stuck, which was said, and are being ended.
  bool poll();

  /// SIGQUIT: says where all ranks are, soon.
  void ask();
  /// The proxies of all hosts are connected.
  bool is_complete() const { return std::ranges::all_of(proxies_, &Connection::is_open); }
  /// The proxy of a host has come.
  bool has_begun() const { return has_begun_; }
  /// The job has one host, whose proxy says itself where the ranks are, and why they are ended.
  bool tells_itself() const { return is_only_one() && has_begun_; }
  /// The job is to be ended from outside: where are its ranks?
  void ask_before_end();
  bool has_answered() const { return answer_.has_value(); }
  /// What is known by now; empty if that was not asked.
  std::string answer() const;
  /// By a signal, SIGALRM for --timeout, or SIGPIPE: what reads the output has gone.
  void end_ranks(int why);
  /// To the ranks of all hosts.
  void pass_on(int signal);
  /// The job is ending: whatever is found from now on follows from it.
  void note_end() { is_over_ = true; }

 private:
  /// Then its proxy does it all, and prints.
  bool is_only_one() const { return job_.nodes.size() == 1; }
  void read(std::size_t host);
  void tell_all(const ControlMessage& message);
  bool conclude();
  std::string unconnected() const;

  const pmi::Job& job_;
  const int hang_after_;
  HangDetector detector_;
  std::vector<Connection> proxies_;  // by host
  bool has_begun_ = false;
  bool is_over_ = false;
  bool asks_before_end_ = false;
  std::optional<std::string> answer_;  ///< to that
};

/// A proxy's side: connects as `host`, and waits for the plan.
base::Status connect_control(const ListenAddress& mpiexec, int host, Connection& line, pmi::Job& job);

}  // namespace clump::mpiexec
