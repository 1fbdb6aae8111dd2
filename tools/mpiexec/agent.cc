#include "agent.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "cluster.h"
#include "common/places.h"
#include "head.h"
#include "map.h"
#include "plan.h"
#include "pmi/pmix.h"
#include "run.h"

namespace clump::mpiexec {

namespace {

/// The address of this host from which `other` is reached; empty if nobody knows.
std::string address_towards(const std::string& other) {
  addrinfo wanted{};
  wanted.ai_socktype = SOCK_DGRAM;
  addrinfo* found = nullptr;
  if (::getaddrinfo(other.c_str(), "9", &wanted, &found) != 0) return {};
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    const int probe = ::socket(one->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) continue;
    sockaddr_storage own{};
    socklen_t length = sizeof own;
    // Of a datagram socket this sends nothing, but chooses the way.
    const bool known = ::connect(probe, one->ai_addr, one->ai_addrlen) == 0 &&
                       ::getsockname(probe, reinterpret_cast<sockaddr*>(&own), &length) == 0;
    ::close(probe);
    char text[INET6_ADDRSTRLEN + 1] = {};
    if (known && ::getnameinfo(reinterpret_cast<sockaddr*>(&own), length, text, sizeof text, nullptr, 0,
                               NI_NUMERICHOST) == 0)
      return text;
  }
  return {};
}

/// The address by which the job's other hosts reach this one.
std::string own_address(const pmi::Job& job) {
  for (const pmi::Node& other : job.nodes) {
    if (&other == &job.this_node()) continue;
    if (std::string address = address_towards(other.name); !address.empty()) return address;
  }
  return {};
}

/// Taken out of the environment.
std::string receive_word() {
  const char* const given = std::getenv(kLastWordVariable);
  std::string word = given != nullptr ? given : "";
  ::unsetenv(kLastWordVariable);
  return word;
}

base::Status prepare(const Command& command, Plan& plan) {
  CLUMP_TRY(receive_plan(plan.job));
  CLUMP_TRY(pmi::pmix::join(tools::own_library("clump/libpmix.so.2")));
  if (pmi::pmix::size() != static_cast<int>(plan.job.nodes.size()))
    return base::fail(MPI_ERR_SPAWN, "{} agents were started for {} hosts", pmi::pmix::size(),
                      plan.job.nodes.size());
  plan.job.node = pmi::pmix::rank();
  plan.job.network.interface = own_address(plan.job);
  return complete_plan(command, plan);
}

}  // namespace

int run_agent(const Command& command) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // prted has gone, and so has the job
  ::signal(SIGQUIT, SIG_DFL);          // which prterun ignores: see head.cc
  const std::string word = receive_word();
  Plan plan;
  const base::Status prepared = prepare(command, plan);
  if (!prepared.ok()) {
    fmt::print(stderr, "mpiexec: {}\n{}", base::message_of(prepared.code()),
               last_word(word, plan.job.node, HostEnd::kFailed));
    return kExitCannotRun;
  }
  if (command.map) fmt::print(stderr, "{}", map_text(plan));
  const bool runs = !plan.job.apps.front().program.empty();  // otherwise it was only to print the map
  pmi::pmix::watch([] { ::kill(::getpid(), SIGTERM); });
  Records records;
  (void)records.prepare(command, plan.job);  // an agent writes no files
  const int code = runs ? run(command, plan, records) : 0;
  const HostEnd end = code == 0 ? HostEnd::kDone : code == 128 + SIGTERM ? HostEnd::kEnded : HostEnd::kFailed;
  fmt::print(stderr, "{}", last_word(word, plan.job.node, end));
  if (code != 0) return code;  // without leave(): the other agents are ended
  pmi::pmix::leave();
  return 0;
}

}  // namespace clump::mpiexec
