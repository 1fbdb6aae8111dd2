// The control server: mpiexec's end of the control messages. It sends each proxy what it is to run, looks for
// deadlocks with them (hang_detector.h), passes on signals, has hosts tell each other their addresses
// (address_book.h), starts the jobs that their ranks spawn (spawned_jobs.h), and knows how the ranks of each
// host have ended.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cluster/address_book.h"
#include "cluster/failures.h"
#include "cluster/spawned_jobs.h"
#include "cluster/troubles.h"
#include "command/exit_codes.h"
#include "hang/hang_detector.h"
#include "pmi/job.h"

namespace clump::mpiexec {

/// Owned by mpiexec's only thread; nothing blocks.
class ControlServer {
 public:
  /// `send` sends a message to the proxy of a host, if it is there.
  ControlServer(const pmi::Job& job, int hang_after,
                std::function<void(std::size_t, const std::string&)> send)
      : job_(job),
        hang_after_(hang_after),
        send_(std::move(send)),
        detector_(job, hang_after),
        addresses_(job),
        spawned_(send_),
        hosts_(job.nodes.size()) {}

  /// The proxy of a host is there, and so are those of all others: its ranks begin.
  void admit(std::size_t host, const std::string& start_message);
  /// It is not any more.
  void lose(std::size_t host);
  /// It has sent a message. False if that is none.
  bool take(std::size_t host, const std::string& bytes);
  std::optional<std::chrono::steady_clock::time_point> alarm() const { return detector_.alarm(); }
  /// Does what there is to do now. True: the ranks are stuck, which was said, and are being ended.
  bool poll();

  /// SIGQUIT: says where all ranks are, soon.
  void ask();
  /// The proxies of all hosts are there, or their ranks have ended.
  bool is_complete() const;
  /// The job is to be ended from outside: where are its ranks?
  void ask_before_end();
  bool has_answered() const { return answer_.has_value(); }
  /// What is known by now; empty if that was not asked.
  std::string answer() const;
  /// By a signal, SIGALRM for --timeout, or SIGPIPE: what reads the output has gone.
  void end_ranks(int why);
  /// The job has failed: the ranks of the other hosts shall end.
  void stop_ranks();
  /// To the ranks of all hosts.
  void pass_on(int signal);
  /// The job is ending: whatever is found from now on follows from it.
  void note_end() { is_over_ = true; }

  /// The exit code of the host's proxy, when its ranks have ended.
  std::optional<int> code(std::size_t host) const { return hosts_[host].code; }
  /// The jobs that ranks have spawned.
  SpawnedJobs& spawned() { return spawned_; }
  Failures& failures() { return failures_; }
  const Failures& failures() const { return failures_; }
  /// What kept ranks from running.
  const Troubles& troubles() const { return troubles_; }
  void add_trouble(std::size_t host, const std::string& what) {
    troubles_.add(job_.nodes[host].name, kExitCannotRun, what);
  }

 private:
  struct Host {
    bool is_there = false;  ///< its proxy
    std::optional<int> code;
  };
  void tell_all(const ControlMessage& message);
  bool conclude();
  std::string unconnected() const;

  const pmi::Job& job_;
  const int hang_after_;
  const std::function<void(std::size_t, const std::string&)> send_;
  HangDetector detector_;
  AddressBook addresses_;
  SpawnedJobs spawned_;
  std::vector<Host> hosts_;
  Troubles troubles_;
  Failures failures_;
  bool is_over_ = false;
  bool asks_before_end_ = false;
  std::optional<std::string> answer_;  ///< to that
};

}  // namespace clump::mpiexec
