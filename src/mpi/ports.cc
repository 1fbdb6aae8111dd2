// Ports, and how groups meet by them (MPI-5.0 section 11.8). A client asks the rank that has opened the port:
//
//   root of MPI_Comm_connect                          rank of the port, root of MPI_Comm_accept
//     --- kPort: port, token, number ------------->   refused at once, or it waits in the port
//     <-- kAnswer: accepted, or why not -----------   MPI_Comm_accept has taken it
//     --- kConfirm: still there, or gone ---------->  gone: MPI_Comm_accept takes the next one
//     then both make the intercommunicator, by the number of the question (introduction.h). The other rank
//     may ask this one at the same time, and numbers its questions by itself: so what a client sends has an
//     even tag, and what the rank of a port sends has an odd one
//
// A client of another job connects to the process of the port first (net/link): from then on the port's rank
// has a number in the client's process, and the client has one in the port's.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <span>
#include <string>
#include <utility>

#include "fiber/fiber.h"
#include "mpi/bodies.h"
#include "mpi/dynamic/connect_request.h"
#include "mpi/dynamic/connect_timeout.h"
#include "mpi/dynamic/port_name.h"
#include "mpi/dynamic/port_table.h"
#include "mpi/introduction.h"
#include "mpi/job_service.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/host_socket.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;

std::span<const std::byte> as_bytes(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

/// The tags of an introduction, in the context of Rank::comm_job.
int clients_tag(std::uint32_t question) { return static_cast<int>(2 * question); }
int servers_tag(std::uint32_t question) { return static_cast<int>(2 * question + 1); }

/// The open ports of one rank, and the questions of clients.
class OpenPorts final : public Rank::Ports, Listener::Owner {
 public:
  explicit OpenPorts(Rank& rank) : rank_(rank), listener_(rank, JobTag::kPort, *this) {
    listener_.begin_listening();
  }

  PortTable& table() { return table_; }
  /// False if there is no such port.
  bool close(const PortName& name);
  /// The process of this rank has ended.
  void forget(int rank);

 private:
  void asked(int rank, std::span<const std::byte> question) override;
  void answer(const Visitor& visitor, PortAnswer answer) {
    tell(rank_, visitor.rank, JobTag::kAnswer, visitor.question, as_bytes(answer));
  }

  Rank& rank_;
  PortTable table_;
  Listener listener_;
};

bool OpenPorts::close(const PortName& name) {
  const auto waiting = table_.close(name);
  if (!waiting) return false;
  for (const Visitor& visitor : *waiting) answer(visitor, PortAnswer::kClosed);
  return true;
}

void OpenPorts::forget(int rank) {
  // In the words that it would have said.
  bool is_there = false;
  for (const Visitor& visitor : table_.forget(rank)) {
    const p2p::MatchKey key = job_address(rank_, rank, JobTag::kConfirm, visitor.question).key();
    rank_.inbox->take({key.context, rank, key.tag}, sizeof is_there,
                      {&is_there, sizeof is_there, datatype::predefined(MPI_BYTE)},
                      net::Sink::Bound::kIgnore);
  }
}

void OpenPorts::asked(int rank, std::span<const std::byte> bytes) {
  PortQuestion question;
  if (bytes.size() != sizeof question) return;
  std::memcpy(&question, bytes.data(), sizeof question);
  if (const auto refusal = table_.ask(rank, question)) answer({rank, question.number}, *refusal);
}

/// What is wrong with a port that is to be connected to, before it is asked.
Status check_name(const Rank& self, const char* port_name, PortName& name) {
  if (port_name == nullptr) return base::fail(MPI_ERR_PORT, "(port_name = NULL): it has no address");
  if (!read_port_name(text_of(port_name), name)) return no_port(text_of(port_name));
  if (name.job != job_name()) return {};
  if (name.rank >= self.world.places()) return no_port(text_of(port_name));
  const bool is_here = self.world.ranks[static_cast<std::size_t>(name.rank)] != nullptr;
  const bool is_of_start = name.rank < self.world.launch.size;
  if (!is_here && !is_of_start) return no_port(text_of(port_name));
  return {};
}

/// While one lives, another job may wake this process: waiting for that is no deadlock.
class Expecting {
 public:
  explicit Expecting(net::LinkChannel* link) : link_(link) {
    if (link_ != nullptr) link_->expect(1);
  }
  ~Expecting() {
    if (link_ != nullptr) link_->expect(-1);
  }
  Expecting(const Expecting&) = delete;
  Expecting& operator=(const Expecting&) = delete;

 private:
  net::LinkChannel* const link_;
};

/// At the root of MPI_Comm_connect.
Status request_connection(Rank& self, const char* port_name, MPI_Info info_handle, LeaderLink& link) {
  PortName name;
  CLUMP_TRY(check_name(self, port_name, name));
  const core::Info* const info = info_handle != MPI_INFO_NULL ? self.info(info_handle) : nullptr;
  if (info_handle != MPI_INFO_NULL && info == nullptr)
    return base::fail(MPI_ERR_INFO, "(info): it is no info object");
  double seconds = -1;
  CLUMP_TRY(read_timeout(info, seconds));
  using Clock = std::chrono::steady_clock;
  const auto limit = seconds < 0 ? Clock::time_point::max()
                                 : fiber::now() + std::chrono::duration_cast<Clock::duration>(
                                                      std::chrono::duration<double>(std::min(seconds, 1e9)));
  const bool is_of_other_job = name.job != job_name();
  const Expecting expecting(is_of_other_job ? self.world.link.get() : nullptr);
  net::HeldPlace place;
  if (is_of_other_job)
    CLUMP_TRY(reach(self.world, {name.link, name.rank, name.process, name.where},
                    fmt::format("(port_name = \"{}\")", text_of(port_name)), name.rank, place, limit));
  // A rank of this process that has never opened a port takes no questions.
  const auto& server = self.world.ranks[static_cast<std::size_t>(name.rank)];
  if (server != nullptr && server->ports.load(std::memory_order_acquire) == nullptr)
    return connection_refused(PortAnswer::kNotOpen, port_name);

  auto* const question = new ConnectRequest(self, name, std::move(place));
  if (seconds < 0) {
    question->wait();
  } else {
    if (!question->wait_until(limit))
      return base::fail(MPI_ERR_PORT,
                        "(port_name = \"{}\"): nobody has accepted within {} s (info key timeout)",
                        text_of(port_name), seconds);
  }
  const PortAnswer answer = question->answer();
  link = {self.comm_job.get(), name.rank, clients_tag(question->number()), servers_tag(question->number()),
          question->take_place()};
  if (answer == PortAnswer::kAccepted) question->confirm(true);
  delete question;
  return answer == PortAnswer::kAccepted ? Status() : connection_refused(answer, port_name);
}

/// At the root of MPI_Comm_accept: waits for a client that is still there.
Status accept(Rank& self, const char* port_name, LeaderLink& link) {
  if (port_name == nullptr) return base::fail(MPI_ERR_PORT, "(port_name = NULL): it has no address");
  PortName name;
  if (!read_port_name(text_of(port_name), name)) return no_port(text_of(port_name));
  auto* const ports = static_cast<OpenPorts*>(self.ports.load(std::memory_order_acquire));
  if (name.job != job_name() || name.rank != self.number || ports == nullptr)
    return base::fail(MPI_ERR_PORT,
                      "(port_name = \"{}\"): the root, which has to accept, has not opened this port",
                      text_of(port_name));
  for (;;) {
    Visitor visitor;
    CLUMP_TRY(ports->table().next(name, visitor));
    const bool is_of_other_job = self.world.link != nullptr && self.world.link->is_place(visitor.rank);
    const PortAnswer answer = PortAnswer::kAccepted;
    tell(self, visitor.rank, JobTag::kAnswer, visitor.question, as_bytes(answer));
    bool is_there = false;
    core::Operation operation;
    CLUMP_TRY(p2p::receive(job_address(self, visitor.rank, JobTag::kConfirm, visitor.question),
                           {&is_there, sizeof is_there, datatype::predefined(MPI_BYTE)}, operation));
    ports->table().confirmed(visitor);
    if (!is_there) continue;
    link = {
        self.comm_job.get(), visitor.rank, servers_tag(visitor.question), clients_tag(visitor.question), {}};
    if (is_of_other_job) link.place = self.world.link->hold(visitor.rank);
    if (!is_of_other_job || link.place) return {};  // otherwise its process has just ended
  }
}

/// The ports of the calling rank.
OpenPorts& ports_of(Rank& self) {
  static std::mutex first;  // threads of one rank may open their first ports together
  const std::lock_guard lock(first);
  // relaxed: written under the lock; release: pairs with the acquire of those who look without it.
  if (self.ports.load(std::memory_order_relaxed) == nullptr)
    self.ports.store(new OpenPorts(self), std::memory_order_release);
  return static_cast<OpenPorts&>(*self.ports.load(std::memory_order_relaxed));
}

}  // namespace

Status listen_to_jobs(const core::World& world) {
  return world.link != nullptr ? world.link->listen() : Status();
}

Status listen_towards(const core::World& world, const std::string& other) {
  CLUMP_TRY(listen_to_jobs(world));  // at the address of the job, if it has one
  if (world.link->where().is_reachable()) return {};
  const std::string address = net::link::address_towards(other);
  if (address.empty())
    return base::fail(MPI_ERR_OTHER,
                      "no address of this host leads to {}: name the interface, with mpiexec --iface", other);
  return world.link->listen_to_hosts(address);
}

Status reach(const core::World& world, const net::link::PeerName& name, const std::string& what, int& rank,
             net::HeldPlace& place, std::chrono::steady_clock::time_point limit) {
  if (const std::string why = why_no_other_jobs(); !why.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "{}: it is of another job, and none can be connected to this one: {}", what, why);
  if (world.link == nullptr || name.job.id == 0)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "{}: it is of a job to which no other one can connect",
                      what);
  CLUMP_TRY(listen_to_jobs(world));
  if (name.where.is_reachable()) CLUMP_TRY(listen_towards(world, net::link::numeric_address(name.where)));
  const Status connected = world.link->connect(name, limit);
  if (!connected.ok()) return base::fail(MPI_ERR_PORT, "{}: {}", what, base::message_of(connected.code()));
  place = world.link->hold_place_of(name, rank);
  if (rank >= 0) return {};
  return base::fail(
      MPI_ERR_UNSUPPORTED_OPERATION,
      "{}: a process can be connected to {} ranks of other jobs at a time, and is; those that have "
      "left count as long as a group has them (MPI_Group_free)",
      what, room_for_jobs());
}

Status open_port_for_jobs(Rank& self, std::string& name) {
  CLUMP_TRY(listen_to_jobs(self.world));
  PortName made{.job = job_name(), .rank = self.number};
  if (self.world.link != nullptr) {
    const net::link::PeerName own = self.world.link->name_of(self.number);
    made.process = own.process;
    made.link = own.job;
    made.where = own.where;
    self.world.link->expect(1);
  }
  name = ports_of(self).table().open(made).text();
  return {};
}

void close_port(Rank& self, const std::string& name) { static_cast<void>(close_port(self, name.c_str())); }

Status accept_at_root(Rank& self, const char* port_name, LeaderLink& link) {
  return accept(self, port_name, link);
}

Status connect_at_root(Rank& self, const char* port_name, LeaderLink& link) {
  return request_connection(self, port_name, MPI_INFO_NULL, link);
}

void forget_visitor(core::World& world, int rank) {
  ConnectRequest::answer_for(rank);
  for (const auto& own : world.ranks) {
    auto* const ports = own != nullptr ? own->ports.load(std::memory_order_acquire) : nullptr;
    if (ports != nullptr) static_cast<OpenPorts*>(ports)->forget(rank);
  }
}

/// By the reserved info key ip_address jobs of other hosts can connect.
Status open_port(Rank& self, core::Info* info, char* port_name) {
  const std::string address = info != nullptr ? info->get("ip_address").value_or("") : "";
  if (!address.empty() && self.world.link != nullptr) CLUMP_TRY(self.world.link->listen_to_hosts(address));
  std::string text;
  CLUMP_TRY(open_port_for_jobs(self, text));
  std::memcpy(port_name, text.c_str(), text.size() + 1);
  return {};
}

Status close_port(Rank& self, const char* port_name) {
  PortName name;
  if (!read_port_name(text_of(port_name), name)) return no_port(text_of(port_name));
  auto* const ports = static_cast<OpenPorts*>(self.ports.load(std::memory_order_acquire));
  const bool is_own = name.job == job_name() && name.rank == self.number && ports != nullptr;
  if (is_own && ports->close(name)) {
    if (self.world.link != nullptr) self.world.link->expect(-1);
    return {};
  }
  return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): the calling rank has no such open port",
                    text_of(port_name));
}

Status comm_accept(Rank& self, const char* port_name, MPI_Info, int root, Comm& comm, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  const auto find = [&](LeaderLink& link) { return accept(self, port_name, link); };
  return introduce(coll::Members(comm, coll::Caller::kCommAccept), root, find, comm, newcomm);
}

Status comm_connect(Rank& self, const char* port_name, MPI_Info info, int root, Comm& comm,
                    MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  const auto find = [&](LeaderLink& link) { return request_connection(self, port_name, info, link); };
  return introduce(coll::Members(comm, coll::Caller::kCommConnect), root, find, comm, newcomm);
}

}  // namespace clump::mpi
