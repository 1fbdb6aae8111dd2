// A job of this host while it runs: what the files run*.cc share. Not for others.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <optional>
#include <string>

#include "cluster/other_hosts.h"
#include "command/options.h"
#include "gdb/gdb.h"
#include "hang/host_probe.h"
#include "job/end_requests.h"
#include "job/preload_names.h"
#include "job/ranks_input.h"
#include "job/records.h"
#include "job/run.h"
#include "job/signal_line.h"
#include "job/spawn_requests.h"
#include "job/successors.h"
#include "job/supervisor.h"
#include "output/ranks_output.h"
#include "plan/plan.h"
#include "pmi/control.h"
#include "pmi/node_memory.h"

namespace clump::mpiexec {

/// A running job, from start() to the exit code. Owned by mpiexec's only thread.
class Run {
  using Clock = std::chrono::steady_clock;
  /// For the others, when a plain process has failed.
  static constexpr std::chrono::milliseconds kGrace{500};
  static constexpr std::chrono::seconds kGraceToEnd{5};  ///< when a signal has asked all ranks to end

 public:
  Run(const Command& command, const Plan& plan, Records& records, ControlLink& link)
      : command_(command),
        plan_(plan),
        records_(records),
        input_(plan.job, link.input),
        link_(link),
        output_(plan.job, command.collapse) {}

  base::Status start();
  int finish();
  /// It cannot be started. Returns the exit code.
  int refuse(const base::Status& status);

 private:
  // run.cc

  base::Status start_processes();
  void tell(ControlReply::Kind kind, int code, std::string text = {});
  /// What all host processes get: see pmi/job.h, control.h and node_memory.h.
  base::Status make_descriptors();
  // As they are now.
  const pmi::Job& job() const { return successors_.has_settled() ? successors_.job() : plan_.job; }
  const pmi::NodeMemory& memory() const { return successors_.has_settled() ? successors_.memory() : memory_; }

  /// There is one host process, and it is on this host.
  bool is_alone() const { return plan_.job.processes.size() == 1; }
  /// Behind the name of a rank, where a proxy speaks of it: " on h1". Negative: a rank of this host.
  std::string on_host(int rank = -1) const;

  base::Status describe_with_streams(int number, Process& process);
  base::Status direct_input(int number, Process& process);
  /// Waits for something to happen and deals with it.
  void wait_once();
  /// As poll() takes them.
  int milliseconds_left() const;
  /// What mpiexec, or this proxy, would end with by now.
  int code() const { return own_code() != 0 ? own_code() : code_of_started_job_; }
  /// The same without the jobs that ranks have started: these do not end this one.
  int own_code() const { return exit_code_ == 0 && is_output_lost_ ? kExitOutput : exit_code_; }
  /// To mpiexec: kFails or kEnded.
  void tell_code(ControlReply::Kind kind, std::string why);
  /// Starts it when all processes wait for it. Its end is the job's.
  void look_after_gdb();

  // run_end.cc, and where news come in run_news.cc.

  /// Nothing of the job is left behind it, unless the user does not wait until all that was killed has gone.
  void end_processes();
  /// What has been read from ranks is written, and mpiexec's own words: waits for readers that are slow.
  void flush_output();

  /// The time is up: of the user's --timeout, or of the grace after a failure.
  void end_now();
  /// The job is to be ended from outside: by --timeout (SIGALRM) or by this signal. The user learns where the
  /// ranks are before they are not there any more.
  void tell_before_end(int why);
  /// `where` is empty if no rank could be asked.
  void end_from_outside(const std::string& where);
  void read_packets();
  /// A packet, and the socket that may come with it. As recv().
  ssize_t receive(std::string& packet, int& socket) const;
  /// The job goes on with programs that have replaced all of its ranks.
  void settle_successors();
  /// The program that has replaced a rank before it called MPI has ended, and the process that the rank was
  /// in goes on.
  void successor_ended(const pmi::SuccessorNote& note);
  /// What a host process says (pmi/control.h); false if there is nothing now.
  bool read_packet();
  /// Whether mpiexec itself could write all that it has passed on.
  void look_at_output();
  /// Once. `subject` (empty: mpiexec) cannot write; the job goes on, as what it computes may be elsewhere.
  void tell_of_lost_output(const std::string& subject, int error);
  void read_signals();
  void take_signal(int number, bool from_terminal, std::chrono::milliseconds grace);
  /// A rank that handles the signal may take its time. One that does not even take it would never end.
  void look_who_blocks();
  pmi::Standing::State state_of_silent(int process) const;
  void pass_on(int signal);
  void read_events();
  const pmi::HostProcess& process_of(const Event& event) const;
  void cannot_start(const Event& event);
  void ended(const Event& event);
  /// A host process has ended in order, as far as the system knows.
  void look_at_state(int number);
  /// By its status of waitpid().
  void judge_end(const pmi::HostProcess& process, int status);
  /// A host process, of any node, has ended in order without MPI; -1: none has.
  void miss(int number);
  /// Others will wait for ever for a process that has ended without MPI.
  bool is_missed() const;
  /// A host process has failed and has not told so itself.
  void fail(const pmi::HostProcess& process, pmi::Reason reason, int code, std::string text);
  /// A rank has come to the end that the user wants. The others, which may handle the signal, have some time
  /// for their own, and no more, as they may wait for this rank.
  void end_as_wanted(const pmi::Failure& failure);
  /// A rank has ended by a signal that the user has sent to all, or knows of, and needs not be told of it.
  bool is_as_wanted(const pmi::Failure& failure) const;
  void limit_grace(std::chrono::milliseconds grace = kGrace);
  /// A process whose core file is being written, or was just now, ends by itself.
  bool waits_for_core();
  /// A process has ended, and the supervisor gets no core to tell how: it may have been the first to fail.
  bool waits_for_supervisor();
  void look_who_waits();
  /// What mpiexec, here or on another host, wants to know, and what there is to be told.
  void pass_on_news();
  void handle(const ControlMessage& message);
  /// All ranks wait for each other; the finder of that has said so.
  void end_stuck();
  static int failure_code(const pmi::Failure& failure);

  const Command& command_;
  const Plan& plan_;
  Records& records_;
  RanksInput input_;
  Supervisor supervisor_;
  bool supervisor_gone_ = false;
  SignalLine signals_;
  int control_ = -1;
  int job_ = -1, theirs_ = -1, life_ = -1;  ///< what the processes get
  int node_ = -1;                           ///< the same
  pmi::NodeMemory memory_;                  ///< of `node_`
  HostProbe probe_;
  PreloadNames preload_names_;
  Successors successors_;
  SpawnRequests spawns_;
  ControlLink& link_;
  Gdb gdb_;  ///< only with --gdb
  OtherHosts others_;
  int running_ = 0;  ///< processes that have not ended
  RanksOutput output_;
  const pmi::HostProcess* absent_ = nullptr;     ///< has ended in order; a rank of it never called MPI_Init
  std::optional<Clock::time_point> timeout_at_;  ///< of the user's --timeout
  std::optional<Clock::time_point> end_at_;      ///< then, or when the grace after a failure is over
  bool is_grace_ = false;                        ///< end_at_ is that of a grace
  std::optional<Clock::time_point>
      taken_by_;     ///< then the ranks must have taken the signal that asks for the end
  int ends_by_ = 0;  ///< what ends the job from outside when the ranks have told where they are; 0: nothing
  std::string where_it_ended_;  ///< where the ranks were when a signal came that ends the job
  std::optional<Clock::time_point> ends_at_latest_;  ///< when it does so in any case
  std::optional<pmi::Failure> failure_;
  int late_looks_ = 0;       ///< at a supervisor that was late, when end_at_ was over
  bool has_dumped_ = false;  ///< when end_at_ was over last, a core file was being written
  bool has_core_ = false;    ///< the system has written a core file of the process that has failed
  bool is_stuck_ = false;
  bool is_output_lost_ = false;    ///< some of it, and that has been said
  bool has_told_failure_ = false;  ///< to mpiexec
  bool has_timed_out_ = false;     ///< --timeout has ended the job
  EndRequests requests_;
  int code_of_started_job_ = 0;  ///< of the first that failed (MPI_Comm_spawn); 0: none has
  int exit_code_ = 0;
};

}  // namespace clump::mpiexec
