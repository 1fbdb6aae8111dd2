#include "cluster/control_server.h"

#include <csignal>
#include <utility>

#include "common/poll_set.h"
#include "diag/report.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

namespace {

void say(const std::string& text) { write_error("mpiexec: " + text); }

}  // namespace

base::Status connect_control(const ListenAddress& mpiexec, int host, Connection& line, pmi::Job& job) {
  int socket = -1;
  CLUMP_TRY(mpiexec.connect(Stream::kControl, host, "a job on several hosts needs", socket));
  line = Connection(socket);
  std::string plan;
  while (!line.receive(plan)) {
    if (!line.is_open()) return base::fail(MPI_ERR_SPAWN, "mpiexec was gone before it sent what is to run");
    tools::PollSet mine;
    line.add_to(mine);
    mine.wait(-1);
    line.transfer();
  }
  return pmi::decode(plan, job);
}

void ControlServer::add_to(tools::PollSet& all) const {
  for (const Connection& proxy : proxies_) proxy.add_to(all);
}

void ControlServer::admit(std::size_t host, int socket) {
  has_begun_ = true;
  proxies_[host] = Connection(socket);
  proxies_[host].send(pmi::encode(job_));
  detector_.admit(static_cast<int>(host));
}

bool ControlServer::poll() {
  for (std::size_t host = 0; host < proxies_.size(); ++host) read(host);
  const bool is_stuck = conclude();
  for (ControlMessage message; detector_.next(message);) tell_all(message);
  return is_stuck;
}

void ControlServer::read(std::size_t host) {
  Connection& proxy = proxies_[host];
  if (!proxy.is_open()) return;
  proxy.transfer();
  ControlReply reply;
  for (std::string bytes; proxy.receive(bytes);)
    if (decode(bytes, reply)) detector_.take(static_cast<int>(host), std::move(reply));
  if (!proxy.is_open()) detector_.lose(static_cast<int>(host));
}

void ControlServer::tell_all(const ControlMessage& message) {
  const std::string bytes = encode(message);
  for (Connection& proxy : proxies_)
    if (proxy.is_open()) proxy.send(bytes);
}

bool ControlServer::conclude() {
  std::string text;
  const HangDetector::Finding found = detector_.poll(text);
  if (found == HangDetector::Finding::kAsked && asks_before_end_) return answer_ = text, false;
  if (found == HangDetector::Finding::kNothing || is_over_) return false;
  if (found == HangDetector::Finding::kAsked) return say("where the ranks are:\n" + text), false;
  say(diag::report(stuck(found, hang_after_, text), job_.ranks()));
  tell_all({ControlMessage::Kind::kEnd, 0});
  note_end();
  return true;
}

void ControlServer::ask() {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("ranks on {} cannot be asked: its proxy is not connected\n", some));
  if (is_only_one()) return tell_all({ControlMessage::Kind::kSignal, SIGQUIT});
  detector_.ask();
}

void ControlServer::ask_before_end() {
  asks_before_end_ = true;
  detector_.ask();
}

std::string ControlServer::answer() const {
  if (answer_) return *answer_;
  return asks_before_end_ ? detector_.text(false) : std::string();
}

void ControlServer::end_ranks(int why) {
  const bool at_once = why == SIGPIPE || (why == SIGALRM && !is_only_one());
  tell_all(at_once ? ControlMessage{ControlMessage::Kind::kEnd, 0}
                   : ControlMessage{ControlMessage::Kind::kSignal, static_cast<std::uint32_t>(why)});
}

void ControlServer::pass_on(int signal) {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("{} does not reach ranks on {}: its proxy is not connected\n", diag::signal_name(signal),
                    some));
  tell_all({ControlMessage::Kind::kSignal, static_cast<std::uint32_t>(signal)});
}

/// Hosts, separated by "or".
std::string ControlServer::unconnected() const {
  std::string names;
  for (std::size_t host = 0; host < proxies_.size(); ++host)
    if (!proxies_[host].is_open()) names += (names.empty() ? "" : " or ") + job_.nodes[host].name;
  return names;
}

}  // namespace clump::mpiexec
