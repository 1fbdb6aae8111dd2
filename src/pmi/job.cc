#include "pmi/job.h"

#include <unistd.h>

#include <algorithm>
#include <numeric>

#include "pmi/job_check.h"
#include "pmi/wire.h"

namespace clump::pmi {

namespace {

constexpr std::string_view kJobMagic = "clump job " CLUMP_VERSION, kMagicOfAll = kJobMagic.substr(0, 10);

void write_app(Writer& out, const App& app) {
  out.text(app.program);
  out.texts(app.arguments);
  out.texts(app.environment);
  out.text(app.working_directory);
  out.number<std::int32_t>(app.ranks);
}

App read_app(Reader& in) {
  App app;
  app.program = in.text();
  app.arguments = in.texts();
  app.environment = in.texts();
  app.working_directory = in.text();
  app.ranks = in.number<std::int32_t>();
  return app;
}

void write_place(Writer& out, const Place& place) {
  for (const std::int32_t number : {place.package, place.node, place.cache, place.core, place.cache_level})
    out.number(number);
}

Place read_place(Reader& in) {
  Place place;
  for (std::int32_t* number : {&place.package, &place.node, &place.cache, &place.core, &place.cache_level})
    *number = in.number<std::int32_t>();
  return place;
}

/// As runs of equal steps: ranks that go to the hosts in turn have a few for each host.
void write_rank_mapping(Writer& out, const std::vector<std::int32_t>& ranks) {
  struct Run {
    std::int32_t first, step, count;
  };
  std::vector<Run> runs;
  for (const std::int32_t rank : ranks) {
    Run* const last = runs.empty() ? nullptr : &runs.back();
    if (last != nullptr && last->count == 1) last->step = rank - last->first;
    if (last != nullptr && rank == last->first + last->step * last->count)
      ++last->count;
    else
      runs.push_back({rank, 1, 1});
  }
  out.number<std::uint32_t>(static_cast<std::uint32_t>(runs.size()));
  for (const Run& run : runs)
    for (const std::int32_t number : {run.first, run.step, run.count}) out.number(number);
}

/// False if it is none of all ranks of the job, or if those of a process are not in rising order.
bool read_rank_mapping(Reader& in, Job& job) {
  const int all = job.ranks();
  std::vector<std::int32_t> ranks;
  std::vector<bool> seen(static_cast<std::size_t>(all));
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    const std::int64_t first = in.number<std::int32_t>(), step = in.number<std::int32_t>();
    const std::int64_t count = in.number<std::int32_t>();
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t rank = first + i * step;
      if (rank < 0 || rank >= all || seen[static_cast<std::size_t>(rank)]) return false;
      seen[static_cast<std::size_t>(rank)] = true;
      ranks.push_back(static_cast<std::int32_t>(rank));
    }
  }
  if (ranks.empty()) return true;
  if (ranks.size() != seen.size()) return false;
  for (const HostProcess& one : job.processes)
    if (!std::is_sorted(ranks.begin() + one.first_slot, ranks.begin() + one.first_slot + one.ranks))
      return false;
  job.rank_mapping = RankMapping(std::move(ranks));
  return true;
}

}  // namespace

RankMapping::RankMapping(std::vector<std::int32_t> ranks) {
  if (std::ranges::is_sorted(ranks)) return;
  ranks_ = std::move(ranks);
  slots_.resize(ranks_.size());
  for (std::size_t slot = 0; slot < ranks_.size(); ++slot)
    slots_[static_cast<std::size_t>(ranks_[slot])] = static_cast<std::int32_t>(slot);
}

int Job::process_of(int rank) const {
  const auto after =
      std::ranges::upper_bound(processes, rank_mapping.slot_of(rank), {}, &HostProcess::first_slot);
  return static_cast<int>(after - processes.begin()) - 1;
}

int Job::first_slot(const Node& one) const {
  return processes[static_cast<std::size_t>(one.first)].first_slot;
}

int Job::ranks(const Node& one) const {
  const HostProcess& last = processes[static_cast<std::size_t>(one.first + one.processes) - 1];
  return last.first_slot + last.ranks - first_slot(one);
}

std::vector<int> Job::ranks_from(int slot, int count) const {
  std::vector<int> all;
  for (int i = 0; i < count; ++i) all.push_back(rank_mapping.rank_at(slot + i));
  return all;
}

int Job::node_of(int rank) const {
  const auto after = std::ranges::upper_bound(nodes, process_of(rank), {}, &Node::first);
  return static_cast<int>(after - nodes.begin()) - 1;
}

int Job::first_port(int process) const {
  int sum = 0;
  for (int before = this_node().first; before < process; ++before)
    sum += ports(processes[static_cast<std::size_t>(before)]);
  return sum;
}

int Job::port_of(int rank) const {
  const int process = process_of(rank);
  const HostProcess& one = processes[static_cast<std::size_t>(process)];
  return first_port(process) + (uses_fibers(one) ? worker_of(rank) - first_worker(one) : 0);
}

std::vector<std::int32_t> Job::cores_of(int rank) const {
  if (cores.empty()) return {};
  const std::int32_t workers_core = cores[static_cast<std::size_t>(worker_of(rank))];
  if (workers_core < 0) return {};
  std::vector<std::int32_t> all{workers_core};
  if (rank >= ranks()) return all;
  const std::size_t count = other_cores.size();
  const auto all_ranks = static_cast<std::size_t>(ranks(this_node()));
  const auto mine = static_cast<std::size_t>(rank_mapping.slot_of(rank) - first_slot(this_node()));
  for (std::size_t i = mine * count / all_ranks; i < (mine + 1) * count / all_ranks; ++i)
    all.push_back(other_cores[i]);
  return all;
}

int Job::worker_of_joining(int later) const {
  const auto workers = static_cast<std::int64_t>(cores.size());
  const std::int64_t on_node = ranks(this_node());
  // worker_at() the other way round: the first slot of a worker.
  const auto first_of = [&](std::int64_t worker) { return (worker * on_node + workers - 1) / workers; };
  std::vector<int> order(cores.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int worker) { return first_of(worker + 1) - first_of(worker); });
  return order[static_cast<std::size_t>(later) % order.size()];
}

int Job::share_of(int rank) const {
  // Without cores of their own, workers stand for what the job may use.
  const std::size_t mine = cores_of(rank).size();
  return static_cast<int>(std::max<std::size_t>(
      mine != 0 ? mine : cores.size() / static_cast<std::size_t>(ranks(this_node())), 1));
}

namespace {

/// A job on one host need not know its name.
std::string name_or_own(const std::string& name) {
  char own[256] = {};
  if (name.empty()) ::gethostname(own, sizeof own - 1);
  return name.empty() ? own : name;
}

}  // namespace

base::LinePrefix Job::line_prefix() const {
  return {output.prefix, name_or_own(this_node().name), static_cast<long>(output.east)};
}

std::string Job::output_file(int rank, int descriptor) const {
  std::string path;
  const std::string& pattern = output.files[static_cast<std::size_t>(descriptor - 1)];
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool is_sign = pattern[at] == '%' && at + 1 < pattern.size();
    if (is_sign && pattern[at + 1] == 'r')
      path += std::to_string(rank), ++at;
    else if (is_sign && pattern[at + 1] == '%')
      path += '%', ++at;
    else if (is_sign && pattern[at + 1] == 'h')
      path += name_or_own(nodes[static_cast<std::size_t>(is_of_start(rank) ? node_of(rank) : node)].name),
          ++at;
    else
      path += pattern[at];
  }
  return path;
}

std::string encode(const Job& job) {
  Writer out;
  out.text(kJobMagic);
  out.text(job.output.prefix);
  out.number(job.output.east);
  out.number<std::uint8_t>(job.output.whole_lines);
  for (const std::string& pattern : job.output.files) out.text(pattern);
  out.number<std::uint8_t>(job.output.to_files_only);
  out.number(job.input);
  out.number<std::uint8_t>(job.map);
  out.number<std::uint8_t>(job.spin);
  out.number<std::uint8_t>(static_cast<std::uint8_t>(job.scheduler));
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.cores.size()));
  for (const std::int32_t core : job.cores) out.number(core);
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.places.size()));
  for (const Place& place : job.places) write_place(out, place);
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.other_cores.size()));
  for (const std::int32_t core : job.other_cores) out.number(core);
  out.number<std::int32_t>(job.helpers);
  out.number(job.universe);
  out.number(job.link_id);
  out.number(job.link_token);
  out.number<std::uint8_t>(job.shares_names);
  out.text(job.parent_port);
  out.texts(job.launch_words);
  out.number<std::uint8_t>(job.has_proxies);
  out.number<std::uint8_t>(job.seed.has_value());
  out.number<std::uint64_t>(job.seed.value_or(0));
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.processes.size()));
  for (const HostProcess& one : job.processes) {
    out.number(one.first_slot);
    out.number(one.ranks);
    out.number<std::uint8_t>(one.plain);
  }
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.nodes.size()));
  for (const Node& one : job.nodes) {
    out.text(one.name);
    out.number(one.first);
    out.number(one.processes);
  }
  out.number<std::int32_t>(job.node);
  out.text(job.network.provider);
  out.text(job.network.interface);
  out.number<std::uint32_t>(static_cast<std::uint32_t>(job.apps.size()));
  for (const App& app : job.apps) write_app(out, app);
  write_rank_mapping(out, job.rank_mapping.ranks());
  return out.take();
}

bool is_job(int descriptor) {
  char bytes[sizeof(std::uint32_t) + kMagicOfAll.size()];
  if (::pread(descriptor, bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) return false;
  return std::string_view(bytes, sizeof bytes).substr(sizeof(std::uint32_t)) == kMagicOfAll;
}

base::Status decode(const std::string& bytes, Job& job) {
  Reader in(bytes);
  if (const std::string magic = in.text(); magic != kJobMagic)
    return base::fail(
        MPI_ERR_ARG,
        "the job was described by another version of Clump than this process has: '{}', and not '{}'; "
        "use mpiexec and libmpi_abi.so.1 of one installation (clump info names them)",
        shown(magic), kJobMagic);
  Job read;
  read.output.prefix = in.text();
  read.output.east = in.number<std::int64_t>();
  read.output.whole_lines = in.number<std::uint8_t>() != 0;
  for (std::string& pattern : read.output.files) pattern = in.text();
  read.output.to_files_only = in.number<std::uint8_t>() != 0;
  read.input = in.number<std::int32_t>();
  read.map = in.number<std::uint8_t>() != 0;
  read.spin = in.number<std::uint8_t>() != 0;
  read.scheduler = Scheduler{in.number<std::uint8_t>()};
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    read.cores.push_back(in.number<std::int32_t>());
  }
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    read.places.push_back(read_place(in));
  }
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    read.other_cores.push_back(in.number<std::int32_t>());
  }
  read.helpers = in.number<std::int32_t>();
  read.universe = in.number<std::int32_t>();
  read.link_id = in.number<std::uint64_t>();
  read.link_token = in.number<std::uint64_t>();
  read.shares_names = in.number<std::uint8_t>() != 0;
  read.parent_port = in.text();
  read.launch_words = in.texts();
  read.has_proxies = in.number<std::uint8_t>() != 0;
  const bool explored = in.number<std::uint8_t>() != 0;
  const auto seed = in.number<std::uint64_t>();
  if (explored) read.seed = seed;
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    HostProcess& one = read.processes.emplace_back();
    one.first_slot = in.number<std::int32_t>();
    one.ranks = in.number<std::int32_t>();
    one.plain = in.number<std::uint8_t>() != 0;
  }
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    Node& one = read.nodes.emplace_back();
    one.name = in.text();
    one.first = in.number<std::int32_t>();
    one.processes = in.number<std::int32_t>();
  }
  read.node = in.number<std::int32_t>();
  read.network.provider = in.text();
  read.network.interface = in.text();
  for (std::uint32_t left = in.number<std::uint32_t>(); left > 0 && in.ok(); --left) {
    read.apps.push_back(read_app(in));
  }
  std::string wrong = in.ok() ? contradiction_in(read) : "it ends too early";
  if (wrong.empty() && !read_rank_mapping(in, read)) wrong = "its ranks are not in slots, each in one";
  if (wrong.empty() && !in.finished()) wrong = "it does not end where it should";
  if (!wrong.empty())
    return base::fail(
        MPI_ERR_ARG,
        "the description of the job is damaged ({} bytes): {}; a program between mpiexec and this one "
        "has changed the file of CLUMP_JOB_FD, or they are of different builds of Clump",
        bytes.size(), wrong);
  job = std::move(read);
  return {};
}

}  // namespace clump::pmi
