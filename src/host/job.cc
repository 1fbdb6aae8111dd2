// What mpiexec has left for this process: the job, the way to tell of failures, the memory of the node. All
// are descriptors, which the environment names.
//
// A process with images takes them before any of the program's code runs, and nobody else sees them. A plain
// one may be a shell script, a debugger or another wrapper that starts the MPI program later: they stay where
// they are, for all of its descendants, until one of these calls MPI and becomes the rank.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/program_path.h"
#include "base/status.h"
#include "diag/capture.h"
#include "fiber/completion.h"
#include "fiber/fiber.h"
#include "fiber/identity.h"
#include "host/start_variables.h"
#include "host/state.h"
#include "pmi/job_file.h"
#include "process/files/standard.h"
#include "process/libc/exit.h"

namespace clump::host {

std::string_view own_folder() {
  const std::string_view path = base::own_file();
  return path.substr(0, std::min(path.rfind('/'), path.size()));
}

namespace {

constexpr const char* kVariables[] = {
    "CLUMP_JOB_FD",  "CLUMP_CONTROL_FD", "CLUMP_NODE_FD",   "CLUMP_LIFE_FD",   "CLUMP_RECORD_FD",
    "CLUMP_PROCESS", "CLUMP_GDB",        "CLUMP_PRELOADED", "CLUMP_INPUT_FDS", "CLUMP_STDOUT",
    "CLUMP_STDERR",  kSuccessorVariable, kNoMpiVariable};

/// Why a process that another launcher has started without PMIx must not call MPI; null: none has.
const char* why_foreign(char** environment) {
  const auto launcher = find_foreign_launcher(environment);
  if (!launcher) return nullptr;
  static char why[PATH_MAX + 400];
  const std::string_view folder = own_folder();
  std::snprintf(
      why, sizeof why,
      "this program uses Clump's MPI library (in %.*s), but %s started it (%.*s is %.40s), and Clump "
      "cannot join its job without PMIx: use Clump's mpiexec, prterun or srun --mpi=pmix",
      static_cast<int>(folder.size()), folder.data(), launcher->name,
      static_cast<int>(launcher->variable.size()), launcher->variable.data(), launcher->value);
  return why;
}

/// A job of one rank: this process.
void describe_singleton(int argc, char** argv, char** environment) {
  Host& here = host();
  pmi::App& app = here.job.apps.emplace_back();
  app.program = base::program_path();
  app.arguments.assign(argv, argv + argc);
  for (char** entry = environment; *entry != nullptr; ++entry) app.environment.emplace_back(*entry);
  here.job.processes.push_back({0, 1, true});
  here.job.nodes.push_back({{}, 0, 1});
  make_ranks();
}

/// What a descriptor that mpiexec leaves to a process is open on: a socket, or a file.
bool is_open_on(int descriptor, mode_t kind) {
  struct stat info {};
  return descriptor >= 0 && ::fstat(descriptor, &info) == 0 && (info.st_mode & S_IFMT) == kind;
}

/// Whether all descriptors are there that a rank needs. A wrapper may have closed them, or have something
/// else there.
bool are_passed_on(char** environment) {
  const int job = number_in(environment, "CLUMP_JOB_FD");
  return is_open_on(job, S_IFREG) && pmi::is_job(job) &&
         is_open_on(number_in(environment, "CLUMP_CONTROL_FD"), S_IFSOCK) &&
         is_open_on(number_in(environment, "CLUMP_NODE_FD"), S_IFREG);
}

/// Reads the job and maps the memory of its node. If it fails, neither is taken.
base::Status take_job(int descriptor, int process, int node) {
  Host& here = host();
  pmi::Job job;
  pmi::NodeMemory memory;
  CLUMP_TRY(pmi::read_job(descriptor, process, job));
  CLUMP_TRY(pmi::NodeMemory::map(job, node, memory));
  here.job = std::move(job);
  here.node = memory;
  here.node_descriptor = node;
  make_ranks();
  return {};
}

/// A program with the rights of its file does not obey the variables of whatever has started it as a rank.
void tell_that_it_is_no_rank(char** environment) {
  const auto is_set = [&](const char* name) { return value_of(environment, name) != nullptr; };
  if (!is_set("CLUMP_JOB_FD") && !is_set("PMIX_NAMESPACE") && !is_set("PMI_FD") &&
      !find_foreign_launcher(environment))
    return;
  const std::string line = fmt::format(
      "clump: {} has the rights of its file (set-user-ID, set-group-ID or capabilities), so it obeys no "
      "variable of its environment and is a job of one rank: start it without these rights to have it in the "
      "job of its launcher\n",
      base::printable(base::program_path()));
  (void)!::write(STDERR_FILENO, line.data(), line.size());
}

/// This process ends when mpiexec and its supervisor have ended, whoever its parent is. `line` is a pipe into
/// which they never write: its other end closes when neither has it any more. Opened anew, as the signal goes
/// to one process for each opening.
void end_with_launcher(int line) {
  struct stat info {};
  if (::fstat(line, &info) != 0 || !S_ISFIFO(info.st_mode)) return;
  char name[64];
  std::snprintf(name, sizeof name, "/proc/self/fd/%d", line);
  const int own = ::open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (own < 0) return;
  ::fcntl(own, F_SETOWN, base::process_id());
  ::fcntl(own, F_SETSIG, SIGKILL);
  ::fcntl(own, F_SETFL, O_NONBLOCK | O_ASYNC);
  pollfd closed{own, 0, 0};
  if (::poll(&closed, 1, 0) > 0) ::kill(base::process_id(), SIGKILL);  // they were gone before
}

void close_on_exec(int descriptor) {
  if (descriptor >= 0) ::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

/// Before libraries are destructed: the network's is needed as long as others may ask for something.
void wait_for_other_hosts_at_exit(int code, void*) {
  const Host& here = host();
  if (code == 0 && ::getpid() == here.process && here.ranks[0].owes == nullptr) wait_for_other_hosts();
}

}  // namespace

void make_ranks() {
  Host& here = host();
  const pmi::HostProcess& mine = here.job.here();
  here.ranks = std::make_unique<HostedRank[]>(static_cast<std::size_t>(mine.ranks));
  for (const int rank : here.job.ranks_of(mine)) {
    here.rank(rank).identity.rank = rank;
    here.rank(rank).identity.threaded = false;
    here.rank(rank).app = here.job.app_of(rank);
  }
}

void name_process() {
  const pmi::Job& job = host().job;
  if (job.ranks() == 1) return;
  const pmi::HostProcess& mine = job.here();
  const int first = job.first_rank(mine), last = job.ranks_of(mine).back();
  const std::string ranks =
      mine.ranks == 1 ? fmt::format("rank{}", first) : fmt::format("ranks{}-{}", first, last);
  // With as much of the program's name as there is room for. That of the main thread is the process's. No
  // spaces: not everybody who reads /proc/PID/stat expects them there (Slurm does not, and then cannot end
  // us).
  const int file = ::open("/proc/self/comm", O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  char program[16] = {};
  (void)!::read(file, program, sizeof program - 1);
  const std::string name = fmt::format("{}:{}", ranks, program);
  (void)!::write(file, name.data(), name.size() - (name.ends_with('\n') ? 1 : 0));
  ::close(file);
}

std::string find_job(int argc, char** argv, char** variables) {
  Host& here = host();
  char** const environment = base::obeyed(variables);
  if (environment != variables) tell_that_it_is_no_rank(variables);
  const int job = number_in(environment, "CLUMP_JOB_FD");
  if (!are_passed_on(environment)) {
    describe_singleton(argc, argv, environment);
    here.by_pmix =
        value_of(environment, "PMIX_NAMESPACE") != nullptr && value_of(environment, "PMIX_RANK") != nullptr;
    if (here.by_pmix) ::on_exit(on_exit_without_mpiexec, nullptr);
    here.why_no_mpi = here.by_pmix ? nullptr : why_foreign(environment);
    if (const char* const why = value_of(environment, kNoMpiVariable)) here.why_no_mpi = why;
    become_successor(environment);
    if (job >= 0)
      here.why_no_mpi =
          "mpiexec has started this process by way of another program, which has closed the descriptors that "
          "the rank needs (CLUMP_JOB_FD, CLUMP_CONTROL_FD, CLUMP_NODE_FD): have it pass them on";
    return {};
  }
  here.control = number_in(environment, "CLUMP_CONTROL_FD");
  const base::Status taken =
      take_job(job, number_in(environment, "CLUMP_PROCESS"), number_in(environment, "CLUMP_NODE_FD"));
  if (!taken.ok()) {
    describe_singleton(argc, argv, environment);  // so that there is a job while the caller tells mpiexec
    return base::message_of(taken.code());
  }
  here.record_descriptor = number_in(environment, "CLUMP_RECORD_FD");
  here.is_debugged = number_in(environment, "CLUMP_GDB") > 0;
  here.life_descriptor = number_in(environment, "CLUMP_LIFE_FD");
  if (here.job.here().plain) {
    keep_preloads(environment);
    watch_plain_output(value_of(environment, "CLUMP_STDOUT"), value_of(environment, "CLUMP_STDERR"));
    return {};
  }
  if (std::string wrong = find_inputs(value_of(environment, "CLUMP_INPUT_FDS")); !wrong.empty()) return wrong;
  for (const int unused : {job, std::exchange(here.life_descriptor, -1)}) ::close(unused);
  for (const int ours : {here.control, here.node_descriptor, here.record_descriptor}) {
    close_on_exec(ours);
    image::standard::protect(ours);
  }
  if (here.has_neighbours()) here.node.host(here.job.process).process_id = here.process;
  return {};
}

std::string take_place(int process, std::span<const int> descriptors) {
  Host& here = host();
  const base::Status taken = take_job(descriptors[0], process, descriptors[1]);
  if (!taken.ok()) return base::message_of(taken.code());
  ::close(descriptors[0]);
  here.life_descriptor = descriptors[2];
  here.record_descriptor = descriptors[3];
  here.successor_of = -1;
  fiber::set_default_identity(&here.ranks[0].identity);
  fiber::set_spinning(here.job.spin);
  listen_to_neighbours();
  return {};
}

const char* join_job() {
  Host& here = host();
  if (here.has_neighbours()) {
    std::int32_t none = 0;
    auto& owner = here.node.host(here.job.process).process_id;
    if (!owner.compare_exchange_strong(none, here.process) && none != here.process) {
      static char why[160];
      std::snprintf(why, sizeof why,
                    "process %d is rank %d of the job already, and this one (%d) a relative of it: one "
                    "process can be the rank",
                    none, here.job.first_rank(here.job.here()), here.process);
      return here.why_no_mpi = why;
    }
  }
  static const bool once = [] {
    Host& here = host();
    refuse_other_mpi();
    listen_to_neighbours();  // main() has, unless it began without this library
    end_with_launcher(here.life_descriptor);
    close_on_exec(here.life_descriptor);
    close_on_exec(number_in(base::environment(), "CLUMP_JOB_FD"));
    close_on_exec(here.control);
    close_on_exec(here.node_descriptor);
    close_on_exec(here.record_descriptor);
    take_back_preload();
    for (const char* variable : kVariables) ::unsetenv(variable);
    diag::prepare();
    use_signal_stack_if_none();
    install_failure_handlers();
    image::set_exit_hook(on_rank_exit);
    ::on_exit(wait_for_other_hosts_at_exit, nullptr);
    here.ranks[0].phase = Phase::kRunning;
    here.ranks[0].kernel_thread = ::gettid();
    name_process();
    if (here.is_debugged) wait_for_debugger();
    return true;
  }();
  static_cast<void>(once);
  return nullptr;
}

}  // namespace clump::host
