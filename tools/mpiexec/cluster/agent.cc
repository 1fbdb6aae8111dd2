#include "cluster/agent.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cluster/connection.h"
#include "cluster/head.h"
#include "cluster/hosts_input.h"
#include "cluster/overview.h"
#include "cluster/places_here.h"
#include "cluster/troubles.h"
#include "common/places.h"
#include "job/run.h"
#include "plan/map.h"
#include "plan/plan.h"
#include "pmi/pmix.h"

namespace clump::mpiexec {

namespace {

/// Taken out of the environment.
std::string receive_word() {
  const char* const given = std::getenv(kLastWordVariable);
  std::string word = given != nullptr ? given : "";
  ::unsetenv(kLastWordVariable);
  return word;
}

/// What the user calls this host, if that is known.
std::string own_name(const pmi::Job& job) {
  if (job.node < static_cast<int>(job.nodes.size())) return job.this_node().name;
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

base::Status prepare(const Command& command, Plan& plan, HeadLine& head, int& exit_code) {
  exit_code = kExitCannotRun;
  if (std::getenv(kOverviewVariable) == nullptr)
    return base::fail(MPI_ERR_ARG,
                      "--agent is how mpiexec starts itself on other hosts: it is not for users");
  Places places;
  CLUMP_TRY(receive_places(places));
  CLUMP_TRY(pmi::pmix::join(tools::own_library("clump/libpmix.so.2")));
  plan.job.node = pmi::pmix::rank();
  CLUMP_TRY(meet_overview(pmi::pmix::rank(), head.connection, plan.job));
  if (pmi::pmix::size() != static_cast<int>(plan.job.nodes.size()))
    return base::fail(MPI_ERR_SPAWN, "{} agents were started for {} hosts", pmi::pmix::size(),
                      plan.job.nodes.size());
  plan.job.node = pmi::pmix::rank();
  CLUMP_TRY(meet_input(plan.job, head.input));
  CLUMP_TRY(enter(plan.job, places.start, exit_code));
  exit_code = kExitCannotRun;
  plan.job.network.interface = own_address(plan.job, places);
  return complete_plan(command, plan);
}

}  // namespace

int run_agent(const Command& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // prted has gone, and so has the job
  const std::string word = receive_word();
  Plan plan;
  HeadLine head;
  int exit_code = 0;
  const base::Status prepared = prepare(command, plan, head, exit_code);
  if (!prepared.ok()) {
    const std::string why = base::message_of(prepared.code());
    const std::string told = word.empty()
                                 ? fmt::format("mpiexec: {}\n", why)
                                 : trouble_line(word, Finder::kAgent, own_name(plan.job), exit_code, why);
    fmt::print(stderr, "{}{}", told, last_word(word, plan.job.node, HostEnd::kFailed, exit_code));
    return exit_code;
  }
  fmt::print(stderr, "{}", last_word(word, plan.job.node, HostEnd::kBegun));
  if (command.map) fmt::print(stderr, "{}", map_text(plan));
  const bool runs = !plan.job.apps.front().program.empty();  // otherwise it was only to print the map
  pmi::pmix::watch([] { ::kill(::getpid(), SIGTERM); });
  Records records;
  (void)records.prepare(command, plan.job);  // an agent writes no files
  const int code = runs ? run(command, plan, records, &head) : 0;
  const HostEnd end = code == 0 ? HostEnd::kDone : code == 128 + SIGTERM ? HostEnd::kEnded : HostEnd::kFailed;
  fmt::print(stderr, "{}", last_word(word, plan.job.node, end, code));
  if (code != 0 && !head.ends_job) return code;  // without leave(): the other agents are ended
  pmi::pmix::leave();
  return 0;
}

}  // namespace clump::mpiexec
