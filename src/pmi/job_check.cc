#include "pmi/job_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "base/line_prefix.h"

namespace clump::pmi {

namespace {

/// More than any job has, so that what is counted by ranks has some bound.
constexpr std::int64_t kMostRanks = 1 << 24;
/// More cores than Linux can be built for.
constexpr std::int32_t kMostCores = 1 << 20;

std::string wrong_path(const char* what, std::string_view path) {
  if (path.empty() || path.front() == '/') return {};
  return fmt::format("the {} '{}' is not absolute", what, shown(path));
}

std::string wrong_apps(const Job& job) {
  if (job.apps.empty()) return "it has no program";
  std::int64_t ranks = 0;
  for (const App& app : job.apps) {
    if (app.ranks < 1) return fmt::format("a program has {} ranks", app.ranks);
    ranks += app.ranks;
    if (std::string wrong = wrong_path("program", app.program); !wrong.empty()) return wrong;
    if (std::string wrong = wrong_path("working directory", app.working_directory); !wrong.empty())
      return wrong;
  }
  return ranks <= kMostRanks ? "" : fmt::format("it has {} ranks", ranks);
}

/// After wrong_apps().
std::string wrong_processes(const Job& job) {
  std::int64_t slots = 0;
  for (const HostProcess& one : job.processes) {
    if (one.first_slot != slots || one.ranks < 1 || (one.plain && one.ranks != 1))
      return fmt::format("a {}process has {} ranks from slot {} on, behind {} slots",
                         one.plain ? "plain " : "", one.ranks, one.first_slot, slots);
    slots += one.ranks;
  }
  if (slots == job.ranks()) return {};
  return fmt::format("its programs have {} ranks, and its processes {}", job.ranks(), slots);
}

std::string wrong_nodes(const Job& job) {
  std::int64_t processes = 0;
  for (const Node& one : job.nodes) {
    if (one.first != processes || one.processes < 1)
      return fmt::format("host '{}' has {} processes from number {} on, behind {} processes", shown(one.name),
                         one.processes, one.first, processes);
    processes += one.processes;
  }
  if (processes != std::ssize(job.processes))
    return fmt::format("its hosts have {} processes of {}", processes, job.processes.size());
  if (job.node >= 0 && job.node < std::ssize(job.nodes)) return {};
  return fmt::format("it is for host {} of {}", job.node, job.nodes.size());
}

std::string wrong_cores(const Job& job) {
  for (const auto& cores : {job.cores, job.other_cores})
    for (const std::int32_t core : cores)
      if (core < -1 || core >= kMostCores) return fmt::format("there is no core {}", core);
  if (!job.places.empty() && job.places.size() != job.cores.size())
    return fmt::format("{} cores have {} places", job.cores.size(), job.places.size());
  return job.helpers >= 0 ? "" : fmt::format("a rank has {} helpers", job.helpers);
}

std::string wrong_kinds(const Job& job) {
  if (job.scheduler > Scheduler::kThreads)
    return fmt::format("there is no scheduler {}", static_cast<int>(job.scheduler));
  if (std::string wrong = base::LinePrefix::complaint(job.output.prefix); !wrong.empty())
    return "in front of lines of output: " + wrong;
  for (const std::string& file : job.output.files)
    if (std::string wrong = wrong_path("file for output", file); !wrong.empty()) return wrong;
  if (job.input < kInputForAll || job.input >= job.ranks())
    return fmt::format("rank {} of {} reads the standard input", job.input, job.ranks());
  if (job.universe < 0) return fmt::format("{} ranks are expected", job.universe);
  const bool takes_turns =
      job.processes.size() == 1 && (job.scheduler == Scheduler::kThreads || job.cores.size() < 2);
  return !job.seed || takes_turns ? "" : "a seed draws the order of several processes or workers";
}

}  // namespace

std::string shown(std::string_view text) {
  std::string all(text.substr(0, 60));
  for (char& c : all)
    if (c < ' ' || c > '~') c = '?';
  return all;
}

std::string contradiction_in(const Job& job) {
  for (const auto wrong : {wrong_apps, wrong_processes, wrong_nodes, wrong_cores, wrong_kinds})
    if (std::string found = wrong(job); !found.empty()) return found;
  return {};
}

std::string why_not_here(const Job& job, int process) {
  const Node& node = job.this_node();
  if (process < node.first || process >= node.first + node.processes)
    return fmt::format("this host has the processes {} to {}, and no {}", node.first,
                       node.first + node.processes - 1, process);
  const HostProcess& one = job.processes[static_cast<std::size_t>(process)];
  return job.uses_fibers(one) && job.cores.empty() ? "it has no worker for the ranks of this process" : "";
}

}  // namespace clump::pmi
