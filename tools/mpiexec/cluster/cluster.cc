#include "cluster/cluster.h"

#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/memory_file.h"
#include "base/program_path.h"
#include "base/why_refused.h"
#include "cluster/acceptor.h"
#include "cluster/control_server.h"
#include "cluster/hosts_input.h"
#include "cluster/places_here.h"
#include "cluster/prterun_driver.h"
#include "cluster/prterun_environment.h"
#include "cluster/prterun_output_filter.h"
#include "cluster/run_daemon.h"
#include "cluster/start_host.h"
#include "command/host_names.h"
#include "common/remote_shell.h"
#include "gdb/gdb_hosts.h"

namespace clump::mpiexec {

namespace {

std::string as_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// What of the command line each proxy has to know.
std::vector<std::string> proxy_options(const Command& command) {
  std::vector<std::string> words{"--proxy"};
  if (command.cores) words.insert(words.end(), {"--cores", *command.cores});
  if (command.hardware_threads) words.emplace_back("--use-hwthread-cpus");
  if (command.workers > 0) words.insert(words.end(), {"--workers", std::to_string(command.workers)});
  if (command.helpers) words.insert(words.end(), {"--helpers", std::to_string(*command.helpers)});
  if (command.map) words.emplace_back("--map");
  if (command.gdb) words.emplace_back("--gdb");
  if (command.profile) words.emplace_back("--profile");
  if (command.trace) words.insert(words.end(), {"--trace", *command.trace});
  if (command.hang_after_seconds > 0)
    words.insert(words.end(), {"--hang-after", std::to_string(command.hang_after_seconds)});
  if (command.timeout_seconds > 0)
    words.insert(words.end(), {"--timeout", std::to_string(command.timeout_seconds)});
  return words;
}

/// What no other program writes.
base::Status choose_token(std::string& token) {
  std::string number(8, '\0');
  if (::getrandom(number.data(), number.size(), 0) != static_cast<ssize_t>(number.size()))
    return base::fail(MPI_ERR_OTHER, "cannot choose a number: {}", std::strerror(errno));
  token = "clump: final status " + as_hex(number);
  ::setenv(kFinalStatusVariable, token.c_str(), 1);
  return {};
}

/// A host whose network is gone does not say so: PRRTE's daemons ask each other every second, and not
/// every five minutes.
void notice_silence() {
  ::setenv("PRTE_MCA_oob_tcp_keepalive_time", "1", 0);
  ::setenv("PRTE_MCA_oob_tcp_keepalive_intvl", "1", 0);
  ::setenv("PRTE_MCA_oob_tcp_keepalive_probes", "2", 0);
}

/// One that was moved from where it was built has to be told where its files are.
std::vector<std::string> locate(const std::string& prterun) {
  const std::string prefix = tools::prefix_of_prterun(prterun);
  if (prefix.empty()) return {};
  ::setenv("PRTE_PREFIX", prefix.c_str(), 1);
  ::setenv("PMIX_PREFIX", prefix.c_str(), 1);
  return {"--prefix", prefix};
}

/// For prterun, which takes addresses of all kinds from a file only.
base::Status write_host_file(const pmi::Job& job, int& file) {
  std::string lines;
  for (const pmi::Node& node : job.nodes) lines += node.name + " slots=1\n";
  file = base::memory_file("clump hosts");
  if (file >= 0 && ::write(file, lines.data(), lines.size()) == std::ssize(lines)) return {};
  return base::fail(MPI_ERR_NO_MEM, "no memory for the list of hosts: {}",
                    base::why_refused("memfd_create", errno));
}

std::vector<std::string> prterun_arguments(const std::string& prterun, const Command& command,
                                           const pmi::Job& job, int host_file) {
  std::vector<std::string> words{prterun};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  for (std::string& word : locate(prterun)) words.push_back(std::move(word));
  // Proxies go where the user was themselves, and say where they cannot: prterun takes another folder
  // instead.
  words.insert(words.end(),
               {"--hostfile", fmt::format("/proc/{}/fd/{}", ::getpid(), host_file), "--map-by", "ppr:1:node",
                "--bind-to", "none", "--wdir", "/", "-n", std::to_string(job.nodes.size())});
  for (const char* const name :
       {"PRTE_PREFIX", "PMIX_PREFIX", kFinalStatusVariable, ListenAddress::kVariable, kPlacesVariable})
    if (std::getenv(name) != nullptr) words.insert(words.end(), {"-x", name});
  words.push_back(base::program_path());
  for (std::string& word : proxy_options(command)) words.push_back(std::move(word));
  return words;
}

}  // namespace

bool needs_other_hosts(const Command& command) {
  return std::ranges::any_of(command.hosts, [](const Host& host) { return !host.is_here; });
}

base::Status run_on_hosts(const Command& command, Plan& plan, Records& records, int& code) {
  std::string prterun, token;
  CLUMP_TRY(tools::find_prterun(prterun));
  plan.job.network.provider = command.network;
  CLUMP_TRY(choose_token(token));
  notice_silence();
  std::vector<std::string> hosts;
  for (const pmi::Node& node : plan.job.nodes) hosts.push_back(node.name);
  Acceptor acceptor(hosts.size());
  CLUMP_TRY(acceptor.open(own_addresses_towards(command.hosts)));
  ControlServer control(plan.job, command.hang_after_seconds);
  if (command.gdb) plan.job.input = pmi::kNoInput;  // gdb reads mpiexec's
  HostsInput input(plan.job);
  if (records.are_wanted()) CLUMP_TRY(records.collect());
  CLUMP_TRY(start_hosts_by_ourselves(hosts.size()));
  tell_places(command.hosts, plan.job);
  int host_file = -1;
  CLUMP_TRY(write_host_file(plan.job, host_file));
  std::optional<GdbHosts> gdb;
  if (command.gdb) CLUMP_TRY(gdb.emplace(hosts.size(), command.gdb_commands).open());
  const std::string folder = choose_folder("PRTE_MCA_prte_local_tmpdir_base");
  const std::vector<std::string> words = prterun_arguments(prterun, command, plan.job, host_file);
  return run_prterun({.arguments = words,
                      .environment = prterun_environment(environ),
                      .folder = folder,
                      .token = token,
                      .hosts = hosts,
                      .job = plan.job,
                      .acceptor = acceptor,
                      .control = control,
                      .input = input,
                      .records = records,
                      .timeout_seconds = command.timeout_seconds,
                      .collapsed = command.collapse ? plan.job.ranks() : 0,
                      .gdb = gdb ? &*gdb : nullptr},
                     code);
}

}  // namespace clump::mpiexec
