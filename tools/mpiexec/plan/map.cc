#include "plan/map.h"

#include <algorithm>
#include <set>
#include <span>
#include <vector>

#include "plan/rank_list.h"

namespace clump::mpiexec {

namespace {

constexpr std::size_t kWidth = 100;

/// The ranks at home at each worker of this node.
std::vector<std::vector<int>> ranks_of_workers(const pmi::Job& job) {
  std::vector<std::vector<int>> ranks(job.cores.size());
  for (const int rank : job.ranks_of(job.this_node()))
    ranks[static_cast<std::size_t>(job.worker_of(rank))].push_back(rank);
  for (std::vector<int>& one : ranks) std::ranges::sort(one);  // several processes may have a core in common
  return ranks;
}

std::string group_of(const tools::Processor& core, bool packages, bool nodes, bool caches) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (packages) add(fmt::format("package of core {}", core.package));
  if (nodes) add(fmt::format("NUMA node {}", core.node));
  if (caches) add(fmt::format("L{} cache of core {}", core.cache_level, core.cache));
  return text;
}

/// Says of each group only what tells it from others.
std::string map_of_workers(const Plan& plan) {
  const std::vector<tools::Processor>& workers = plan.workers;
  std::set<std::int32_t> packages, nodes, caches, cores;
  for (const tools::Processor& core : workers) {
    packages.insert(core.package);
    nodes.insert(core.node);
    caches.insert(core.cache);
    cores.insert(core.core);
  }
  const bool by_cache = caches.size() > 1 && caches.size() < cores.size();  // shared by some
  const std::vector<std::vector<int>> ranks = ranks_of_workers(plan.job);

  std::vector<std::string> cells;
  std::size_t widest = 0;
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    cells.push_back(fmt::format("{}: {}", workers[worker].number, rank_list(ranks[worker])));
    widest = std::max(widest, cells.back().size());
  }
  std::string text, group, line;
  const auto end_line = [&] {
    if (!line.empty()) text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    line.clear();
  };
  for (std::size_t worker = 0; worker < workers.size(); ++worker) {
    const std::string here = group_of(workers[worker], packages.size() > 1, nodes.size() > 1, by_cache);
    if (here != group) {
      end_line();
      text += "  " + here + "\n";
      group = here;
    }
    if (line.size() + widest + 2 > kWidth) end_line();
    line += fmt::format("{}{:<{}}", line.empty() ? "    " : "  ", cells[worker], widest);
  }
  end_line();
  return text;
}

std::string map_without_cores(const Plan& plan) {
  const std::vector<std::vector<int>> ranks = ranks_of_workers(plan.job);
  std::string text = fmt::format("  the control group {} pays for {:.3g} cores: the kernel chooses them\n   ",
                                 plan.quota->group, plan.quota->cores);
  for (std::size_t worker = 0; worker < plan.workers.size(); ++worker)
    text += fmt::format(" worker {}: {}", worker, rank_list(ranks[worker]));
  return text + "\n";
}

}  // namespace

std::string map_text(const Plan& plan) {
  const pmi::Node& node = plan.job.this_node();
  const int ranks = plan.job.ranks(node);
  const std::string title = plan.job.nodes.size() > 1 ? fmt::format("map of {}", node.name) : "map";
  const std::string_view plural = ranks == 1 ? "" : "s", article = ranks == 1 ? "a " : "";
  if (plan.workers.empty()) {
    const std::vector<std::int32_t> cores =
        plan.only_cores.empty() ? tools::allowed_processors() : plan.only_cores;
    const std::string what = plan.job.seed ? fmt::format("{}fiber{} of one worker in the order of seed {}",
                                                         article, plural, *plan.job.seed)
                                           : fmt::format("{}thread{}", article, plural);
    return fmt::format("{}: {} rank{} as {}, which the kernel runs on cores {}\n", title, ranks, plural, what,
                       tools::as_list(cores));
  }
  const std::span<const pmi::HostProcess> hosts(&plan.job.processes[static_cast<std::size_t>(node.first)],
                                                static_cast<std::size_t>(node.processes));
  const auto plain = std::ranges::count(hosts, true, &pmi::HostProcess::plain);
  const std::size_t workers = plan.workers.size();
  std::string text = fmt::format("{}: {} rank{}", title, ranks, plural);
  if (plain == ranks)
    text += fmt::format(" as {}, on {} core{}", ranks == 1 ? "a process" : "processes", workers,
                        workers == 1 ? "" : "s");
  else
    text += fmt::format(" as {}fiber{}{}, run by {} worker{}", plain > 0 ? "processes and " : article, plural,
                        hosts.size() > 1 && plain == 0 ? fmt::format(" of {} processes", hosts.size()) : "",
                        workers, workers == 1 ? "" : "s");
  return text + fmt::format("{}\n", plan.quota ? "" : " (core: ranks)") +
         (plan.quota ? map_without_cores(plan) : map_of_workers(plan));
}

}  // namespace clump::mpiexec
