#include "cluster.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/program_path.h"
#include "common/places.h"
#include "gdb_hosts.h"
#include "head.h"
#include "overview.h"

namespace clump::mpiexec {

namespace {

// The kernel takes no longer strings (MAX_ARG_STRLEN, 128 KiB).
constexpr std::size_t kMostInVariable = 100'000;

std::string variable(std::size_t number) { return fmt::format("CLUMP_PLAN_{}", number); }

std::string as_hex(const std::string& bytes) {
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

/// False if it is none.
bool from_hex(std::string_view text, std::string& bytes) {
  const auto digit = [](char c) { return c >= 'a' ? c - 'a' + 10 : c - '0'; };
  if (text.size() % 2 != 0 || text.find_first_not_of("0123456789abcdef") != text.npos) return false;
  for (std::size_t i = 0; i < text.size(); i += 2)
    bytes += static_cast<char>(digit(text[i]) << 4 | digit(text[i + 1]));
  return true;
}

/// Sets the variables that receive_plan() reads; their names.
std::vector<std::string> send_plan(const pmi::Job& job) {
  const std::string text = as_hex(pmi::encode(job));
  std::vector<std::string> names;
  for (std::size_t from = 0; from < text.size(); from += kMostInVariable) {
    names.push_back(variable(names.size()));
    ::setenv(names.back().c_str(), text.substr(from, kMostInVariable).c_str(), 1);
  }
  return names;
}

/// What of the command line each agent has to know.
std::vector<std::string> agent_options(const Command& command) {
  std::vector<std::string> words{"--agent"};
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

base::Status find_prterun(std::string& path) {
  if (const char* const named = std::getenv("CLUMP_PRTERUN")) {
    path = named;
    if (::access(named, X_OK) == 0) return {};
    return base::fail(MPI_ERR_SPAWN, "CLUMP_PRTERUN={}: {}", named, std::strerror(errno));
  }
  if (tools::find_program("prterun", tools::current_directory(), path).ok()) return {};
  return base::fail(
      MPI_ERR_SPAWN,
      "a job on several hosts is started by PRRTE's prterun, and there is none in PATH: install prrte, "
      "or the Python package openmpi, which carries it; or name it in CLUMP_PRTERUN");
}

/// What nobody else writes.
base::Status choose_word(std::string& word) {
  std::string number(8, '\0');
  if (::getrandom(number.data(), number.size(), 0) != static_cast<ssize_t>(number.size()))
    return base::fail(MPI_ERR_OTHER, "cannot choose a number: {}", std::strerror(errno));
  word = "clump: last word " + as_hex(number);
  ::setenv(kLastWordVariable, word.c_str(), 1);
  return {};
}

/// A host whose network is gone sends no word of it: PRRTE's daemons ask each other every second, and not
/// every five minutes.
void notice_silence() {
  ::setenv("PRTE_MCA_oob_tcp_keepalive_time", "1", 0);
  ::setenv("PRTE_MCA_oob_tcp_keepalive_intvl", "1", 0);
  ::setenv("PRTE_MCA_oob_tcp_keepalive_probes", "2", 0);
}

/// One that was moved from where it was built has to be told where its files are.
std::vector<std::string> locate(const std::string& prterun) {
  const std::filesystem::path prefix = std::filesystem::path(prterun).parent_path().parent_path();
  std::error_code none;
  if (!std::filesystem::exists(prefix / "share" / "prte", none)) return {};
  ::setenv("PRTE_PREFIX", prefix.c_str(), 0);
  ::setenv("PMIX_PREFIX", prefix.c_str(), 0);
  return {"--prefix", prefix.string()};
}

std::vector<std::string> prterun_arguments(const std::string& prterun, const Command& command,
                                           const pmi::Job& job) {
  std::vector<std::string> words{prterun};
  if (::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  for (std::string& word : locate(prterun)) words.push_back(std::move(word));
  std::string hosts;
  for (const pmi::Node& node : job.nodes) hosts += (hosts.empty() ? "" : ",") + node.name + ":1";
  words.insert(words.end(), {"--host", hosts, "--map-by", "ppr:1:node", "--bind-to", "none", "-n",
                             std::to_string(job.nodes.size())});
  for (const std::string& name : send_plan(job)) words.insert(words.end(), {"-x", name});
  for (const char* const name :
       {"PRTE_PREFIX", "PMIX_PREFIX", kLastWordVariable, kCollectorVariable, kOverviewVariable, kGdbVariable})
    if (std::getenv(name) != nullptr) words.insert(words.end(), {"-x", name});
  words.push_back(base::program_path());
  for (std::string& word : agent_options(command)) words.push_back(std::move(word));
  return words;
}

}  // namespace

bool needs_other_hosts(const Command& command) {
  char own[256] = {};
  ::gethostname(own, sizeof own - 1);
  return std::ranges::any_of(command.hosts, [&](const Host& host) {
    return host.name != own && host.name != "localhost" && host.name != "127.0.0.1";
  });
}

base::Status run_on_hosts(const Command& command, Plan& plan, Records& records, int& code) {
  std::string prterun, word;
  CLUMP_TRY(find_prterun(prterun));
  plan.job.network.provider = command.network;
  CLUMP_TRY(choose_word(word));
  notice_silence();
  std::vector<std::string> hosts;
  for (const pmi::Node& node : plan.job.nodes) hosts.push_back(node.name);
  Overview overview(plan.job, command.hang_after_seconds);
  CLUMP_TRY(overview.open());
  if (records.are_wanted()) CLUMP_TRY(records.collect());
  std::optional<GdbHosts> gdb;
  if (command.gdb) CLUMP_TRY(gdb.emplace(hosts.size(), command.gdb_commands).open());
  CLUMP_TRY(run_prterun({prterun_arguments(prterun, command, plan.job), word, hosts, overview,
                         command.collapse ? plan.job.ranks() : 0, gdb ? &*gdb : nullptr},
                        code));
  if (records.are_wanted() && !records.finish_collecting(plan.job, code) && code == 0) code = kExitOutput;
  return {};
}

base::Status receive_plan(pmi::Job& job) {
  std::string bytes;
  for (std::size_t number = 0;; ++number) {
    const std::string name = variable(number);
    const char* const text = std::getenv(name.c_str());
    if (text == nullptr) break;
    if (!from_hex(text, bytes)) return base::fail(MPI_ERR_ARG, "{} is damaged", name);
    ::unsetenv(name.c_str());
  }
  if (bytes.empty())
    return base::fail(MPI_ERR_ARG,
                      "--agent is how mpiexec starts itself on other hosts: it is not for users");
  return pmi::decode(bytes, job);
}

}  // namespace clump::mpiexec
