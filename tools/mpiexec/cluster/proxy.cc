#include "cluster/proxy.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <utility>

#include "cluster/hosts_input.h"
#include "cluster/places_here.h"
#include "cluster/proxy_relay.h"
#include "cluster/start_message.h"
#include "command/options.h"
#include "common/output.h"
#include "common/poll_set.h"
#include "hang/control_messages.h"
#include "job/run.h"
#include "job/supervisor.h"
#include "plan/map.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

base::Status receive_start(Connection& mpiexec, StartMessage& start) {
  std::string bytes;
  while (!mpiexec.receive(bytes)) {
    if (!mpiexec.is_open())
      return base::fail(MPI_ERR_SPAWN, "mpiexec was gone before it sent what is to run");
    tools::PollSet mine;
    mpiexec.add_to(mine);
    mine.wait(-1);
    mpiexec.transfer();
  }
  return decode(bytes, start);
}

base::Status prepare(ProxyRelay& relay, ControlLink& link, Command& command, Plan& plan, int& exit_code) {
  exit_code = kExitCannotRun;
  StartMessage start;
  CLUMP_TRY(receive_start(link.connection, start));
  CLUMP_TRY(parse(start.words, command));
  plan.job = std::move(start.job);
  plan.job.node = start.host;
  if (HostsInput::is_read_by(plan.job, plan.job.node)) link.input = relay.end_of(Channel::kInput);
  if (command.gdb) link.gdb = relay.end_of(Channel::kGdb);
  link.own = relay.own();
  CLUMP_TRY(enter(plan.job, start.places.start, exit_code));
  exit_code = kExitCannotRun;
  plan.job.network.interface = own_address(plan.job, start.places);
  return complete_plan(command, plan);
}

int run_part(ProxyRelay& relay) {
  Command command;
  Plan plan;
  ControlLink link{.connection = relay.control()};
  int exit_code = 0;
  const auto tell = [&](ControlReply::Kind kind, int code, std::string text) {
    link.connection.send(encode(
        ControlReply{.kind = kind, .number = static_cast<std::uint32_t>(code), .bytes = std::move(text)}));
    return code;
  };
  if (const base::Status prepared = prepare(relay, link, command, plan, exit_code); !prepared.ok())
    return tell(ControlReply::Kind::kTrouble, exit_code, base::message_of(prepared.code()));
  if (command.map) tools::print_error("{}", map_text(plan));
  if (plan.job.apps.front().program.empty())
    return tell(ControlReply::Kind::kEnded, 0, {});  // it was for the map
  Records records;
  (void)records.prepare(command, plan.job);  // a proxy writes no files
  records.send_to(relay.end_of(Channel::kRecords));
  return run(command, plan, records, &link);
}

}  // namespace

int run_proxy(const std::vector<std::string>& words) {
  const std::string number = words.size() == 2 ? words[1] : "";
  std::uint32_t host = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), host).ec != std::errc{} ||
      ::isatty(STDIN_FILENO) != 0) {
    tools::print_error("mpiexec: {} is how mpiexec starts itself on other hosts: it is not for users\n",
                       kProxy);
    return kExitUsage;
  }
  // What a terminal sends to a launcher on this host is for mpiexec, which passes it on.
  ::setpgid(0, 0);
  for (const int one : kOfTheJob) ::signal(one, SIG_DFL);
  ProxyRelay relay(host);
  if (const base::Status started = relay.start(); !started.ok()) {
    tools::print_error("mpiexec: {}\n", base::message_of(started.code()));
    return kExitCannotRun;
  }
  const int code = run_part(relay);
  relay.finish();
  return code;
}

}  // namespace clump::mpiexec
