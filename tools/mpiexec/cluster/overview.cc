#include "cluster/overview.h"

#include <csignal>
#include <cstdio>
#include <utility>

#include "diag/report.h"

namespace clump::mpiexec {

namespace {

void say(const std::string& text) { fmt::print(stderr, "mpiexec: {}", text); }

}  // namespace

base::Status meet_overview(int host, Connection& line, pmi::Job& job) {
  int socket = -1;
  CLUMP_TRY(go_to_meeting(kOverviewVariable, "a job on several hosts needs", host, socket));
  line = Connection(socket);
  std::string plan;
  while (!line.receive(plan)) {
    if (!line.is_open()) return base::fail(MPI_ERR_SPAWN, "mpiexec was gone before it sent what is to run");
    pollfd events = line.events();
    ::poll(&events, 1, -1);
    line.transfer();
  }
  return pmi::decode(plan, job);
}

void Overview::add_descriptors(std::vector<pollfd>& all) const {
  reception_.add_descriptors(all);
  for (const Connection& agent : agents_)
    if (agent.is_open()) all.push_back(agent.events());
}

bool Overview::poll() {
  reception_.greet([this](std::size_t host, Connection agent) {
    has_begun_ = true;
    agents_[host] = std::move(agent);
    agents_[host].send(pmi::encode(job_));
    watch_.admit(static_cast<int>(host));
  });
  for (std::size_t host = 0; host < agents_.size(); ++host) read(host);
  const bool is_stuck = conclude();
  for (Order order; watch_.next(order);) tell_all(order);
  return is_stuck;
}

void Overview::read(std::size_t host) {
  Connection& agent = agents_[host];
  if (!agent.is_open()) return;
  agent.transfer();
  Report report;
  for (std::string message; agent.receive(message);)
    if (decode(message, report)) watch_.take(static_cast<int>(host), std::move(report));
  if (!agent.is_open()) watch_.lose(static_cast<int>(host));
}

void Overview::tell_all(const Order& order) {
  const std::string message = encode(order);
  for (Connection& agent : agents_)
    if (agent.is_open()) agent.send(message);
}

bool Overview::conclude() {
  std::string text;
  const Watch::Finding found = watch_.poll(text);
  if (found == Watch::Finding::kAsked && asks_before_end_) return answer_ = text, false;
  if (found == Watch::Finding::kNothing || is_over_) return false;
  if (found == Watch::Finding::kAsked) return say("where the ranks are:\n" + text), false;
  say(diag::report(stuck(found, hang_after_, text), job_.ranks()));
  tell_all({Order::Kind::kEnd, 0});
  note_end();
  return true;
}

void Overview::ask() {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("ranks on {} cannot be asked: its agent is not connected\n", some));
  if (is_only_one()) return tell_all({Order::Kind::kSignal, SIGQUIT});
  watch_.ask();
}

void Overview::ask_before_end() {
  asks_before_end_ = true;
  watch_.ask();
}

std::string Overview::answer() const {
  if (answer_) return *answer_;
  return asks_before_end_ ? watch_.text(false) : std::string();
}

void Overview::end_ranks(int why) {
  const bool at_once = why == SIGALRM && !is_only_one();
  tell_all(at_once ? Order{Order::Kind::kEnd, 0}
                   : Order{Order::Kind::kSignal, static_cast<std::uint32_t>(why)});
}

void Overview::pass_on(int signal) {
  if (const std::string some = unconnected(); !some.empty())
    say(fmt::format("{} does not reach ranks on {}: its agent is not connected\n", diag::signal_name(signal),
                    some));
  tell_all({Order::Kind::kSignal, static_cast<std::uint32_t>(signal)});
}

/// Hosts, separated by "or".
std::string Overview::unconnected() const {
  std::string names;
  for (std::size_t host = 0; host < agents_.size(); ++host)
    if (!agents_[host].is_open()) names += (names.empty() ? "" : " or ") + job_.nodes[host].name;
  return names;
}

}  // namespace clump::mpiexec
