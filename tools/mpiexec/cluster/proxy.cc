#include "cluster/proxy.h"

#include <signal.h>
#include <unistd.h>

#include <charconv>
#include <optional>
#include <utility>

#include "cluster/places_here.h"
#include "cluster/proxy_relay.h"
#include "cluster/start_message.h"
#include "command/options.h"
#include "common/output.h"
#include "common/poll_set.h"
#include "hang/control_messages.h"
#include "job/ranks_input.h"
#include "job/run.h"
#include "job/supervisor.h"
#include "keys/invitation.h"
#include "keys/join.h"
#include "plan/map.h"
#include "plan/plan.h"

namespace clump::mpiexec {

namespace {

constexpr int kExitNotJoined = 1;  ///< Clump is there, and runs

/// To the mpiexec that has started this proxy.
class ProxyLink : public ControlLink {
 public:
  explicit ProxyLink(Connection connection) : connection(std::move(connection)) { input = -1; }
  void add_to(tools::PollSet& all) const override { connection.add_to(all); }
  void send(ControlReply reply) override { connection.send(encode(reply)); }
  bool next(ControlMessage& message) override {
    connection.transfer();
    for (std::string bytes; connection.receive(bytes);)
      if (decode(bytes, message)) return true;
    return false;
  }
  bool is_there() const override { return connection.is_open(); }

  Connection connection;
};

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

base::Status prepare(ProxyRelay& relay, ProxyLink& link, Command& command, Plan& plan, int& exit_code) {
  exit_code = kExitNotJoined;
  StartMessage start;
  CLUMP_TRY(receive_start(link.connection, start));
  exit_code = kExitCannotRun;
  CLUMP_TRY(parse(start.words, command));
  plan.job = std::move(start.job);
  plan.job.node = start.host;
  if (RanksInput::is_read(plan.job, plan.job.this_node())) link.input = relay.end_of(Channel::kInput);
  if (command.gdb) link.gdb = relay.end_of(Channel::kGdb);
  link.own = relay.own();
  CLUMP_TRY(enter(plan.job, start.places.start, exit_code));
  exit_code = kExitCannotRun;
  CLUMP_TRY(find_own_address(plan.job, start.places, plan.job.network.interface));
  return complete_plan(command, plan);
}

int run_part(ProxyRelay& relay) {
  Command command;
  Plan plan;
  ProxyLink link(relay.control());
  int exit_code = 0;
  // A code that mpiexec has been told is no news: launchers complain of others than 0.
  const auto end_with = [&](int code) { return link.connection.is_open() ? 0 : code; };
  const auto tell = [&](ControlReply::Kind kind, int code, std::string text) {
    link.send({.kind = kind, .number = static_cast<std::uint32_t>(code), .bytes = std::move(text)});
    return end_with(code);
  };
  if (const base::Status prepared = prepare(relay, link, command, plan, exit_code); !prepared.ok())
    return tell(ControlReply::Kind::kTrouble, exit_code, base::message_of(prepared.code()));
  if (command.map) tools::print_error("{}", map_text(plan));
  if (plan.job.apps.front().program.empty())
    return tell(ControlReply::Kind::kEnded, 0, {});  // it was for the map
  Records records;
  (void)records.prepare(command, plan.job);  // a proxy writes no files
  records.send_to(relay.end_of(Channel::kRecords));
  return end_with(run(command, plan, records, link));
}

/// Connects to mpiexec, as the words behind the host's number say.
base::Status connect(const std::vector<std::string>& words, std::uint32_t host,
                     std::optional<Joined>& joined) {
  Invitation invitation;
  std::optional<Key> key;
  const std::string& where = words[3];
  if (words[2] == kKeyFile) {
    CLUMP_TRY(read_key_file(where, key, invitation));
  } else {
    CLUMP_TRY(parse(where, invitation));
    CLUMP_TRY(read_key(key));
  }
  CLUMP_TRY(join(invitation, *key, host, kPatienceOfProxies, joined));
  if (words[2] == kJoin)
    tools::print_error("mpiexec: this host has joined the job, and is busy until it ends\n");
  return {};
}

}  // namespace

int run_proxy(const std::vector<std::string>& words) {
  const bool connects = words.size() == 4 && (words[2] == kKeyFile || words[2] == kJoin);
  const std::string number = words.size() == 2 || connects ? words[1] : "";
  std::uint32_t host = 0;
  if (std::from_chars(number.data(), number.data() + number.size(), host).ec != std::errc{} ||
      (!connects && ::isatty(STDIN_FILENO) != 0)) {
    tools::print_error("mpiexec: {} is how mpiexec starts itself on other hosts: it is not for users\n",
                       kProxy);
    return kExitUsage;
  }
  std::optional<Joined> joined;
  if (const base::Status found = connects ? connect(words, host, joined) : base::Status(); !found.ok()) {
    tools::print_error("mpiexec: {}\n", base::message_of(found.code()));
    return kExitNotJoined;
  }
  // What a terminal sends to a launcher on this host is for mpiexec, which passes it on.
  ::setpgid(0, 0);
  for (const int one : kOfTheJob) ::signal(one, SIG_DFL);
  ProxyRelay relay(host);
  if (const base::Status started = relay.start(std::move(joined)); !started.ok()) {
    tools::print_error("mpiexec: {}\n", base::message_of(started.code()));
    return kExitCannotRun;
  }
  const int code = run_part(relay);
  relay.finish();
  return code;
}

}  // namespace clump::mpiexec
