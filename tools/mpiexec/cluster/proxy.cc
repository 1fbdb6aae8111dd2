#include "cluster/proxy.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "cluster/connection.h"
#include "cluster/control_server.h"
#include "cluster/hosts_input.h"
#include "cluster/places_here.h"
#include "cluster/prterun_output_filter.h"
#include "cluster/troubles.h"
#include "common/places.h"
#include "job/run.h"
#include "plan/map.h"
#include "plan/plan.h"
#include "pmi/pmix.h"

namespace clump::mpiexec {

namespace {

/// Taken out of the environment.
std::string receive_token() {
  const char* const given = std::getenv(kFinalStatusVariable);
  std::string token = given != nullptr ? given : "";
  ::unsetenv(kFinalStatusVariable);
  return token;
}

/// What the user calls this host, if that is known.
std::string own_name(const pmi::Job& job) {
  if (job.node < static_cast<int>(job.nodes.size())) return job.this_node().name;
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

base::Status prepare(const Command& command, Plan& plan, ControlLink& link, int& exit_code) {
  exit_code = kExitCannotRun;
  if (!ListenAddress::read(link.mpiexec))
    return base::fail(MPI_ERR_ARG,
                      "--proxy is how mpiexec starts itself on other hosts: it is not for users");
  ::unsetenv(ListenAddress::kVariable);
  Places places;
  CLUMP_TRY(receive_places(places));
  CLUMP_TRY(pmi::pmix::join(tools::own_library("clump/libpmix.so.2")));
  plan.job.node = pmi::pmix::rank();
  CLUMP_TRY(connect_control(link.mpiexec, pmi::pmix::rank(), link.connection, plan.job));
  if (pmi::pmix::size() != static_cast<int>(plan.job.nodes.size()))
    return base::fail(MPI_ERR_SPAWN, "{} proxies were started for {} hosts", pmi::pmix::size(),
                      plan.job.nodes.size());
  plan.job.node = pmi::pmix::rank();
  CLUMP_TRY(connect_input(link.mpiexec, plan.job, link.input));
  CLUMP_TRY(enter(plan.job, places.start, exit_code));
  exit_code = kExitCannotRun;
  plan.job.network.interface = own_address(plan.job, places);
  return complete_plan(command, plan);
}

}  // namespace

int run_proxy(const Command& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // prted has gone, and so has the job
  const std::string token = receive_token();
  Plan plan;
  ControlLink link;
  int exit_code = 0;
  const base::Status prepared = prepare(command, plan, link, exit_code);
  if (!prepared.ok()) {
    const std::string why = base::message_of(prepared.code());
    const std::string told = token.empty()
                                 ? fmt::format("mpiexec: {}\n", why)
                                 : trouble_line(token, Finder::kProxy, own_name(plan.job), exit_code, why);
    fmt::print(stderr, "{}{}", told, final_status(token, plan.job.node, HostStatus::kFailed, exit_code));
    return exit_code;
  }
  fmt::print(stderr, "{}", final_status(token, plan.job.node, HostStatus::kBegun));
  if (command.map) fmt::print(stderr, "{}", map_text(plan));
  const bool runs = !plan.job.apps.front().program.empty();  // otherwise it was only to print the map
  pmi::pmix::watch([] { ::kill(::getpid(), SIGTERM); });
  Records records;
  (void)records.prepare(command, plan.job);  // a proxy writes no files
  records.send_to(link.mpiexec);
  const int code = runs ? run(command, plan, records, &link) : 0;
  const HostStatus end = code == 0               ? HostStatus::kDone
                         : code == 128 + SIGTERM ? HostStatus::kEnded
                                                 : HostStatus::kFailed;
  fmt::print(stderr, "{}", final_status(token, plan.job.node, end, code));
  if (code != 0 && !link.ends_job) return code;  // without leave(): the other proxies are ended
  pmi::pmix::leave();
  return 0;
}

}  // namespace clump::mpiexec
