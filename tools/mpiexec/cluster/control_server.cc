#include "cluster/control_server.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include "diag/report.h"
#include "output/output_buffer.h"

namespace clump::mpiexec {

bool ControlServer::is_complete() const {
  return std::ranges::all_of(hosts_, [](const Host& host) { return host.is_there || host.code; });
}

void ControlServer::admit(std::size_t host, const std::string& start_message) {
  hosts_[host].is_there = true;
  send_(host, start_message);
  detector_.admit(static_cast<int>(host));
}

void ControlServer::lose(std::size_t host) {
  if (std::exchange(hosts_[host].is_there, false)) detector_.lose(static_cast<int>(host));
}

bool ControlServer::poll() {
  const bool is_stuck = conclude();
  for (ControlMessage message; detector_.next(message);) tell_all(message);
  return is_stuck;
}

bool ControlServer::take(std::size_t host, const std::string& bytes) {
  ControlReply reply;
  if (!decode(bytes, reply)) return false;
  const int code = static_cast<int>(reply.number);
  switch (reply.kind) {
    case ControlReply::Kind::kFails:
      note_end();
      failures_.note(host, code, reply.cause);
      break;
    case ControlReply::Kind::kTrouble:
      troubles_.add(job_.nodes[host].name, code, std::exchange(reply.bytes, {}));
      [[fallthrough]];
    case ControlReply::Kind::kEnded:
      if (hosts_[host].code) break;
      hosts_[host].code = code;
      if (code != 0) failures_.note(host, code, reply.cause);
      failures_.explain(host, std::move(reply.bytes));
      break;
    case ControlReply::Kind::kAddress:
    case ControlReply::Kind::kWanted:
    case ControlReply::Kind::kAbsent:
    case ControlReply::Kind::kDone:
      if (const auto answer = addresses_.take(host, reply))
        for (const std::size_t other : answer->hosts) send_(other, encode(answer->message));
      break;
    case ControlReply::Kind::kSpawn:
      spawned_.start(host, reply.number, reply.bytes);
      break;
    default:
      detector_.take(static_cast<int>(host), std::move(reply));
  }
  return true;
}

void ControlServer::tell_all(const ControlMessage& message) {
  const std::string bytes = encode(message);
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (hosts_[host].is_there) send_(host, bytes);
}

bool ControlServer::conclude() {
  std::string text;
  const HangDetector::Finding found = detector_.poll(text);
  if (found == HangDetector::Finding::kAsked && asks_before_end_) return answer_ = text, false;
  if (found == HangDetector::Finding::kNothing || is_over_) return false;
  if (found == HangDetector::Finding::kAsked)
    return say("where the ranks are:\n" + text, Word::kAnswer), false;
  say(diag::report(stuck(found, hang_after_, text), job_.ranks()));
  tell_all({ControlMessage::Kind::kEnd, 0});
  note_end();
  return true;
}

void ControlServer::ask() {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("ranks on {} cannot be asked: its proxy is not connected", some));
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
  const bool at_once = why == SIGPIPE || why == SIGALRM;
  tell_all(at_once ? ControlMessage{ControlMessage::Kind::kEnd, 0}
                   : ControlMessage{ControlMessage::Kind::kSignal, static_cast<std::uint32_t>(why)});
  if (at_once) spawned_.stop();  // before it reports that it has lost these ranks
}

void ControlServer::stop_ranks() { tell_all({ControlMessage::Kind::kStop, 0}); }

void ControlServer::pass_on(int signal) {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("{} does not reach ranks on {}: its proxy is not connected", diag::signal_name(signal),
                    some));
  tell_all({ControlMessage::Kind::kSignal, static_cast<std::uint32_t>(signal)});
}

/// Hosts, separated by "or".
std::string ControlServer::unconnected() const {
  std::string names;
  for (std::size_t host = 0; host < hosts_.size(); ++host)
    if (!hosts_[host].is_there && !hosts_[host].code)
      names += (names.empty() ? "" : " or ") + job_.nodes[host].name;
  return names;
}

}  // namespace clump::mpiexec
