#include "cluster/hosts_driver.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "cluster/control_server.h"
#include "cluster/ending.h"
#include "cluster/host_launchers.h"
#include "cluster/host_line.h"
#include "cluster/hosts_output.h"
#include "cluster/start_message.h"
#include "command/exit_codes.h"
#include "common/poll_set.h"
#include "diag/report.h"
#include "gdb/gdb_hosts.h"
#include "job/distribution.h"
#include "job/end_requests.h"
#include "job/ranks_input.h"
#include "job/signal_line.h"
#include "output/flush.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

namespace {

constexpr std::chrono::milliseconds kGraceOfOthers{5500};  ///< of other hosts, when the job has failed
constexpr std::chrono::milliseconds kOtherTroubles{500};   ///< when hosts cannot take part: do others, too?
constexpr std::chrono::milliseconds kLook{500};            ///< so often, whether hosts are silent
constexpr std::chrono::seconds kQuiet{15};                 ///< a launcher that has said nothing is told then

class HostsDriver {
 public:
  explicit HostsDriver(const Launch& launch)
      : launch_(launch),
        launchers_(launch),
        control_(launch.job, launch.command.hang_after_seconds,
                 [this](std::size_t host, const std::string& message) { hosts_[host].send(message); }),
        ending_(launch.command.timeout_seconds),
        output_(launch.job.nodes.size(), launch.command.collapse ? launch.job.ranks() : 0) {
    for (std::uint32_t host = 0; host < launch.job.nodes.size(); ++host)
      hosts_.emplace_back(host, launchers_.branch_of(host).line);
    is_over_.resize(hosts_.size());
    if (launch.command.timeout_seconds > 0)
      timeout_at_ = Ending::Clock::now() + std::chrono::seconds(launch.command.timeout_seconds);
  }

  base::Status start();
  int finish();

 private:
  bool is_over() const { return over_ == hosts_.size(); }
  const std::string& name(std::size_t host) const { return launch_.job.nodes[host].name; }
  void wait_once();
  int milliseconds_left() const;
  void lose_launchers();
  void transfer(Branch& branch);
  void admit(std::size_t host);
  void begin();
  base::Status open_channels(std::size_t host, std::vector<int>& readers);
  void look_at_end(std::size_t host);
  void end(std::size_t host);
  void lose(std::size_t host);
  std::string why_lost(std::size_t host);
  void give_up(bool all = true);
  void pass_on_output();
  void look_at_output();
  void look_after_gdb();

  void read_signals();
  void end_job(int why);
  void take_steps();
  void fail();
  void tell_of_timeout();
  void tell_of_quiet_launchers();
  /// The ranks of all hosts have ended, and so it is told.
  bool have_all_told() const;
  int report() const;
  int report_ending() const;
  int flush_output(int code);

  const Launch& launch_;
  HostLaunchers launchers_;
  std::deque<HostLine> hosts_;
  std::vector<bool> is_over_;  ///< by host: nothing more comes from it
  std::size_t over_ = 0;       ///< so many are
  std::size_t there_ = 0;      ///< so many have come, ever
  ControlServer control_;
  Ending ending_;
  HostsOutput output_;
  std::optional<GdbHosts> gdb_;
  SignalLine signals_;
  EndRequests requests_;
  std::optional<Ending::Clock::time_point> timeout_at_;
  std::string job_;    ///< encoded, until it is sent
  std::string where_;  ///< the ranks were, before they were told to end
  bool has_begun_ = false, is_stuck_ = false, has_failed_ = false, has_lost_ = false, has_told_ = false,
       is_output_lost_ = false;
  bool has_given_up_ = false;
  bool is_unread_ = false;  ///< the output, by what has stopped to read it, and the job is ended from outside
  std::size_t first_ = 0;   ///< the host whose output is passed on first
  std::optional<Ending::Clock::time_point> tells_of_quiet_at_ = Ending::Clock::now() + kQuiet;
};

base::Status HostsDriver::start() {
  CLUMP_TRY(launchers_.open());
  signals_.begin(kOfUser);
  block_signals_of_writes();
  if (launch_.command.gdb) CLUMP_TRY(gdb_.emplace(hosts_.size(), launch_.command.gdb_commands).open());
  if (launch_.records.are_wanted()) launch_.records.collect();
  job_ = pmi::encode(launch_.job);
  return launchers_.start();
}

int HostsDriver::finish() {
  while (!is_over()) wait_once();
  if (!has_given_up_ && !launchers_.wait_for_end()) lose_launchers();
  launchers_.stop();
  control_.spawned().stop();
  if (gdb_) gdb_->end();
  output_.show_all();
  int code = report();
  if (launch_.records.are_wanted() && !launch_.records.finish_collecting(launch_.job, code) && code == 0)
    code = kExitOutput;
  return flush_output(code);
}

void HostsDriver::wait_once() {
  tools::PollSet all;
  all.add(signals_.descriptor());
  launchers_.add_to(all);
  control_.spawned().add_to(all);
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (!is_over_[host]) hosts_[host].channels().add_to(all);
  for (const OutputBuffer* const buffer : output_buffers()) buffer->add_to(all);
  if (gdb_) gdb_->add_to(all);
  all.wait(milliseconds_left());
  read_signals();
  if (!launchers_.read_events()) lose_launchers();
  launchers_.take_guests();
  for (Branch& branch : launchers_.branches)
    if (!branch.is_over) transfer(branch);
  pass_on_output();
  if (ending_.has_begun() || has_failed_) control_.note_end();
  control_.spawned().read_events();
  is_stuck_ = control_.poll() || is_stuck_;
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (!is_over_[host]) look_at_end(host);
  if (ending_.is_timeout()) end_job(SIGALRM);
  take_steps();
  tell_of_quiet_launchers();
  if (gdb_) look_after_gdb();
}

int HostsDriver::milliseconds_left() const {
  using std::chrono::milliseconds;
  milliseconds most = kLook;
  for (const auto& alarm : {control_.alarm(), ending_.alarm(), output_.next()})
    if (alarm)
      most =
          std::clamp(std::chrono::ceil<milliseconds>(*alarm - Ending::Clock::now()), milliseconds{0}, most);
  if (signals_.descriptor() < 0) most = std::min(most, SignalLine::kPause);
  return static_cast<int>(most.count());
}

void HostsDriver::lose_launchers() {
  output_.say("the process that keeps the job together was killed");
  has_lost_ = true;
  give_up();
}

void HostsDriver::transfer(Branch& branch) {
  branch.line.transfer([&](const Frame& frame) {
    return branch.has(frame.host) && hosts_[frame.host].take(frame, [&](std::string_view message) {
      return control_.take(frame.host, std::string(message));
    });
  });
  for (const HostName& host : branch.hosts.all) {
    HostLine& one = hosts_[host.number];
    if (one.take_greeting()) admit(host.number);
    if (!is_over_[host.number]) one.channels().transfer();
  }
  if (const std::string words = branch.line.take_words(); !words.empty()) output_.show(words);
}

void HostsDriver::admit(std::size_t host) {
  HostLine& one = hosts_[host];
  ++there_;
  if (has_failed_) return end(host);
  if (one.version() != CLUMP_VERSION) {
    control_.add_trouble(host,
                         fmt::format("Clump {} here, {} there ({}): install the same version on every host",
                                     CLUMP_VERSION, one.version(), one.path()));
    return end(host);
  }
  if (one.is_first()) launchers_.branch_of(host).launch_others();
  if (there_ == hosts_.size()) begin();
}

/// No rank begins before all hosts are there.
void HostsDriver::begin() {
  has_begun_ = true;
  std::vector<int> readers;
  for (std::size_t host = 0; host < hosts_.size(); ++host) {
    if (const base::Status opened = open_channels(host, readers); !opened.ok()) {
      control_.add_trouble(host, base::message_of(opened.code()));
      return fail();
    }
    control_.admit(host, encode({static_cast<int>(host), launch_.words, launch_.places, {}}, job_));
  }
  if (!readers.empty()) distribute_input(STDIN_FILENO, std::move(readers));
  job_.clear();
}

/// `readers`: of standard input, as far as a channel's window lets them.
base::Status HostsDriver::open_channels(std::size_t host, std::vector<int>& readers) {
  Channels& channels = hosts_[host].channels();
  int end = -1;
  if (RanksInput::is_read(launch_.job, launch_.job.nodes[host]))
    CLUMP_TRY(channels.open(Channel::kInput, readers.emplace_back()));
  if (launch_.records.are_wanted()) {
    CLUMP_TRY(channels.open(Channel::kRecords, end));
    launch_.records.admit(host, end);
  }
  if (gdb_) {
    CLUMP_TRY(channels.open(Channel::kGdb, end));
    gdb_->admit(host, end);
  }
  return {};
}

void HostsDriver::look_at_end(std::size_t host) {
  HostLine& one = hosts_[host];
  if (control_.code(host).value_or(0) != 0) fail();
  if (control_.code(host) && one.has_sent_all()) return one.is_complete() ? end(host) : void();
  if (one.lost() || one.line().is_lost()) lose(host);
}

/// When it is that of all hosts of a branch, its line is closed.
void HostsDriver::end(std::size_t host) {
  if (is_over_[host]) return;
  is_over_[host] = true;
  ++over_;
  output_.end(host, hosts_[host].channels());
  for (const std::string& why : control_.failures().end(host, is_over())) output_.say(why);
  control_.lose(host);
  hosts_[host].close();
  Branch& branch = launchers_.branch_of(host);
  branch.is_over =
      std::ranges::all_of(branch.hosts.all, [&](const HostName& of) { return is_over_[of.number]; });
  if (branch.is_over) {
    if (const std::string words = branch.line.take_words(control_.code(host).has_value()); !words.empty())
      output_.show(words);
    branch.line.close();
  }
  if (control_.troubles().any()) fail();
}

std::string HostsDriver::why_lost(std::size_t host) {
  const HostLine& one = hosts_[host];
  if (one.lost() && !one.is_there())
    return fmt::format("{}; another host has tried it: with {}={} mpiexec does so itself", *one.lost(),
                       tools::kWidthVariable, hosts_.size());
  if (one.lost()) return *one.lost();
  LauncherLine& line = hosts_[host].line();
  if (one.is_first()) return line.why_lost(launch_.launcher.name());
  return fmt::format("{}, through which it is reached, is lost", line.name());
}

/// Why is told, unless it follows from what has been told.
void HostsDriver::lose(std::size_t host) {
  if (!has_given_up_) {
    const char* const more = control_.code(host) ? "; the end of what its ranks have written is lost" : "";
    if (hosts_[host].is_there())
      output_.say(fmt::format("lost {}: {}{}", name(host), why_lost(host), more));
    else
      control_.add_trouble(host, why_lost(host));
  }
  has_lost_ = has_lost_ || !control_.code(host);
  if (!ending_.has_begun()) control_.failures().note(host, kExitOutput);
  end(host);
  fail();
}

/// Nothing more is waited for, or not for hosts whose ranks have not ended: streams that end end these, too.
void HostsDriver::give_up(bool all) {
  has_given_up_ = true;
  control_.spawned().stop();
  launchers_.close_arrivals();
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (!is_over_[host] && (all || !control_.code(host))) lose(host);
}

/// The first time: the ranks of other hosts shall end, and hosts that have not come are not waited for.
void HostsDriver::fail() {
  if (ending_.has_begun() || std::exchange(has_failed_, true)) return;
  launchers_.close_arrivals();
  ending_.limit(has_begun_ ? kGraceOfOthers : kOtherTroubles);
  if (has_begun_ && !is_stuck_) control_.stop_ranks();
  for (std::size_t host = 0; !has_begun_ && host < hosts_.size(); ++host)
    if (hosts_[host].is_there()) end(host);
}

void HostsDriver::pass_on_output() {
  for (OutputBuffer* const buffer : output_buffers()) buffer->write();
  // The first host that finds no room is the first next time: all get their turn.
  const std::size_t begin = first_;
  bool is_full = false;
  for (std::size_t i = 0; i < hosts_.size(); ++i) {
    const std::size_t host = (begin + i) % hosts_.size();
    if (!is_over_[host] && !output_.take(host, hosts_[host].channels()) && !std::exchange(is_full, true))
      first_ = host;
  }
  output_.show_due();
  look_at_output();
}

/// A closed pipe ends the job.
void HostsDriver::look_at_output() {
  const WriteFailure* const failed = write_failure();
  if (failed == nullptr || std::exchange(is_output_lost_, true)) return;
  output_.say(fmt::format("cannot write its output: {}: what could not be written is lost",
                          std::strerror(failed->error)));
  if (failed->error == EPIPE) end_job(SIGPIPE);
}

void HostsDriver::look_after_gdb() {
  const base::Status started = gdb_->poll();
  if (started.ok()) return;
  output_.say(base::message_of(started.code()));
  ending_.begin(SIGTERM, {});
}

void HostsDriver::read_signals() {
  siginfo_t info;
  while (signals_.next(info)) {
    const int number = info.si_signo;
    const bool typed = info.si_code > 0;
    if (typed && gdb_ && gdb_->is_running() && number != SIGHUP) continue;  // gdb's
    if (number == SIGQUIT) {
      control_.ask();
    } else if (EndRequests::ends_job(number)) {
      if (requests_.take(number, typed, Ending::Clock::now()) != EndRequests::Kind::kSame) end_job(number);
    } else {
      control_.pass_on(number);
    }
    if (number != SIGTSTP) continue;
    launchers_.pause();
    ::raise(SIGSTOP);
  }
}

/// `why`: a signal, SIGALRM for --timeout, or SIGPIPE if what reads the output has gone.
void HostsDriver::end_job(int why) {
  const bool can_be_told = !gdb_ && control_.is_complete();
  const bool asks = can_be_told && (why == SIGTERM || why == SIGALRM);
  if (asks && !ending_.has_begun()) control_.ask_before_end();
  ending_.begin(why, {.can_be_told = can_be_told, .are_asked = asks});
}

void HostsDriver::take_steps() {
  if (ending_.has_begun() && have_all_told() && output_.is_unread()) {
    is_unread_ = true;
    return give_up();
  }
  if (ending_.has_begun() && control_.has_answered()) ending_.note_answer();
  switch (ending_.next()) {
    case Ending::Step::kNothing:
      return;
    case Ending::Step::kTell:
      where_ = control_.answer();
      if (ending_.why() == SIGALRM) tell_of_timeout();
      return control_.end_ranks(ending_.why());
    case Ending::Step::kTerminate:
      if (ending_.why() == SIGALRM) tell_of_timeout();
      return give_up(false);
    case Ending::Step::kKill:
      return give_up();
  }
}

bool HostsDriver::have_all_told() const {
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (!is_over_[host] && !control_.code(host)) return false;
  return true;
}

/// Once; of a host whose proxy has not come, nothing more is known.
void HostsDriver::tell_of_timeout() {
  if (std::exchange(has_told_, true)) return;
  std::string more = where_.empty() ? where_ : "; where the ranks were:\n" + where_;
  for (std::size_t host = 0; !has_begun_ && host < hosts_.size(); ++host)
    if (!hosts_[host].is_there()) more += (more.empty() ? "; it waits for " : ", ") + name(host);
  output_.say(fmt::format("the job has not ended within {} s (--timeout): ending it{}",
                          launch_.command.timeout_seconds, more));
}

/// Once. A launcher may ask a question that is not shown, or wait for a host behind a firewall.
void HostsDriver::tell_of_quiet_launchers() {
  if (!tells_of_quiet_at_ || Ending::Clock::now() < *tells_of_quiet_at_) return;
  tells_of_quiet_at_.reset();
  std::string names, command;
  for (const Branch& one : launchers_.branches) {
    if (!one.line.is_quiet()) continue;
    if (names.empty()) command = launch_.launcher.command_before(one.line.name());
    names += (names.empty() ? "" : ", ") + one.line.name();
  }
  if (names.empty()) return;
  output_.say(
      fmt::format("{}: {} has said nothing for {} s: does it ask a question, or does a firewall drop "
                  "what it sends? Try it: {} true; --launcher names other ways",
                  names, command, kQuiet.count(), command));
}

int HostsDriver::report() const {
  const Troubles& troubles = control_.troubles();
  if (is_stuck_) return 1;  // which was said
  if (write_failure() != nullptr && write_failure()->error == EPIPE) return 128 + SIGPIPE;
  if (ending_.has_begun()) return report_ending();
  if (troubles.any()) {
    const std::string& from = launch_.command.hosts_from;
    write_error(troubles.text() + (from.empty() ? from : "mpiexec: the hosts are those of " + from + "\n"));
    return troubles.code();
  }
  if (control_.failures().code() != 0) return control_.failures().code();
  if (is_output_lost_) return kExitOutput;
  return gdb_ ? gdb_->code() : 0;
}

/// By the time it is ended from outside, ranks that handle the signal may have come to a good end.
int HostsDriver::report_ending() const {
  if (ending_.why() == SIGALRM) return kExitTimeout;
  if (!has_lost_ && control_.failures().code() == 0) return 0;
  say(fmt::format("the job was ended by {}{}{}", diag::signal_name(ending_.why()),
                  where_.empty() ? "" : "; where the ranks were:\n", where_));
  const int code = control_.failures().code_after_signal();
  return code != 0 ? code : 128 + ending_.why();
}

/// Waits for slow readers. Returns the exit code, which was `code` before.
int HostsDriver::flush_output(int code) {
  const std::vector<OutputBuffer*> buffers = output_buffers();
  FlushEnd end = FlushEnd::kSilence;
  if (!is_unread_)
    end = flush(buffers, signals_, requests_, {.until = timeout_at_, .is_ended = ending_.has_begun()});
  const std::size_t lost = discard(buffers);
  if (lost > 0) say(fmt::format("{} bytes of output are lost: what reads it has stopped reading", lost));
  look_at_output();
  if (code != 0 || (lost == 0 && write_failure() == nullptr)) return code;
  if (write_failure() != nullptr && write_failure()->error == EPIPE) return 128 + SIGPIPE;
  if (end == FlushEnd::kTimeout) return kExitTimeout;
  return lost > 0 && requests_.signal() != 0 ? 128 + requests_.signal() : kExitOutput;
}

}  // namespace

base::Status run_hosts(const Launch& launch, int& code) {
  HostsDriver driver(launch);
  CLUMP_TRY(driver.start());
  code = driver.finish();
  return {};
}

}  // namespace clump::mpiexec
