// Ports, and how groups meet by them (MPI-5.0 section 11.8). A client asks the rank that has opened the port:
//
//   root of MPI_Comm_connect                          rank of the port, root of MPI_Comm_accept
//     --- kPort: port, token, number ------------->   refused at once, or it waits in the port
//     <-- kAnswer: accepted, or why not -----------   MPI_Comm_accept has taken it
//     --- kConfirm: still there, or gone ---------->  gone: MPI_Comm_accept takes the next one
//     then both make the intercommunicator, by the number of the question (introduction.h)
//
// A client of another job connects to the process of the port first (net/link): from then on the port's rank has
// a number in the client's process, and the client has one in the port's.
#include <locale.h>
#include <stdlib.h>
#include <sys/random.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "fiber/fiber.h"
#include "mpi/bodies.h"
#include "mpi/introduction.h"
#include "mpi/job_service.h"
#include "mpi/ports.h"
#include "mpi/process.h"
#include "net/link/link_channel.h"

namespace clump::mpi {

namespace {

using base::Status;
using core::Comm;
using core::Rank;

/// What a port's name says: "clump:JOB:RANK:PROCESS:ID:JOBTOKEN:PORT:TOKEN". The middle three are for
/// other jobs.
struct PortName {
  std::string job;  ///< job_name()
  std::int32_t rank = 0, port = 0;
  std::uint64_t token = 0;
  std::int32_t process = 0;
  net::link::JobName link;  ///< not known: no other job can connect

  std::string text() const {
    return fmt::format("clump:{}:{}:{}:{:016x}:{:016x}:{}:{:016x}", job, rank, process, link.id, link.token, port,
                       token);
  }
};

template <typename Number>
bool read_number(std::string_view text, Number& number, int base = 10) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size();
}

/// False if no port of Clump's has such a name.
bool parse(std::string_view text, PortName& name) {
  std::array<std::string_view, 8> parts;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::size_t end = i + 1 < parts.size() ? text.find(':') : text.size();
    if (end == std::string_view::npos) return false;
    parts[i] = text.substr(0, end);
    text.remove_prefix(i + 1 < parts.size() ? end + 1 : end);
  }
  name.job = parts[1];
  return parts[0] == "clump" && read_number(parts[2], name.rank) && read_number(parts[3], name.process) &&
         read_number(parts[4], name.link.id, 16) && read_number(parts[5], name.link.token, 16) &&
         read_number(parts[6], name.port) && read_number(parts[7], name.token, 16) && name.rank >= 0;
}

std::string_view text_of(const char* port_name) { return {port_name, strnlen(port_name, MPI_MAX_PORT_NAME)}; }

Status no_port(std::string_view text) {
  return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): no port has such a name; MPI_Open_port makes them",
                    text);
}

/// A client at a port.
struct Visitor {
  int rank = 0;  ///< its number in the job
  std::uint32_t question = 0;
  friend bool operator==(const Visitor&, const Visitor&) = default;
};

struct Question {
  std::int32_t port = 0;
  std::uint32_t number = 0;
  std::uint64_t token = 0;
};

enum class Answer : std::uint8_t { kAccepted, kNotOpen, kWrongToken, kClosed, kEnded };

std::span<const std::byte> as_bytes(const auto& value) { return std::as_bytes(std::span(&value, 1)); }

/// The open ports of one rank.
class OpenPorts final : public Rank::Ports, Listener::Owner {
 public:
  explicit OpenPorts(Rank& rank) : rank_(rank), listener_(rank, JobTag::kPort, *this) {
    listener_.begin_listening();
  }

  /// `name` has what is not the port's own.
  PortName open(PortName name);
  /// False if there is no such port.
  bool close(const PortName& name);
  /// Waits for a client, and takes it.
  Status next(const PortName& name, Visitor& visitor);
  /// The client that next() has told has confirmed.
  void confirmed(const Visitor& visitor);
  /// The process of this rank has ended.
  void forget(int rank);

 private:
  struct Waiting {
    fiber::Completion over;
    Visitor visitor;
    bool is_closed = false;
  };
  struct Port {
    std::uint64_t token = 0;
    std::deque<Visitor> visitors;  // that no thread has taken
    std::deque<Waiting*> waiting;  // threads in MPI_Comm_accept; not both
  };

  void asked(int rank, std::span<const std::byte> question) override;
  void answer(const Visitor& visitor, Answer answer) {
    tell(rank_, visitor.rank, JobTag::kAnswer, visitor.question, as_bytes(answer));
  }
  Port* find(const PortName& name) {
    const auto found = open_.find(name.port);
    return found != open_.end() && found->second.token == name.token ? &found->second : nullptr;
  }

  Rank& rank_;
  base::ShortMutex mutex_;  // guards what follows
  std::map<int, Port> open_;
  std::vector<Visitor> taken_;  // by next(), and not confirmed() yet
  int last_ = 0;
  Listener listener_;
};

PortName OpenPorts::open(PortName name) {
  while (::getrandom(&name.token, sizeof name.token, 0) != sizeof name.token) {
  }
  const std::lock_guard lock(mutex_);
  name.port = ++last_;
  open_[name.port].token = name.token;
  return name;
}

bool OpenPorts::close(const PortName& name) {
  Port closed;
  {
    const std::lock_guard lock(mutex_);
    Port* const port = find(name);
    if (port == nullptr) return false;
    closed = std::move(*port);
    open_.erase(name.port);
  }
  for (const Visitor& visitor : closed.visitors) answer(visitor, Answer::kClosed);
  for (Waiting* const thread : closed.waiting) {
    thread->is_closed = true;
    thread->over.signal();
  }
  return true;
}

Status OpenPorts::next(const PortName& name, Visitor& visitor) {
  Waiting self;
  {
    const std::lock_guard lock(mutex_);
    Port* const port = find(name);
    if (port == nullptr)
      return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): the root has no such open port", name.text());
    if (!port->visitors.empty()) {
      visitor = port->visitors.front();
      taken_.push_back(visitor);
      port->visitors.pop_front();
      return {};
    }
    port->waiting.push_back(&self);
  }
  self.over.wait();
  visitor = self.visitor;
  return self.is_closed ? base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): another thread has closed the port",
                                     name.text())
                        : Status();
}

void OpenPorts::confirmed(const Visitor& visitor) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(taken_, visitor);
  if (found != taken_.end()) taken_.erase(found);
}

void OpenPorts::forget(int rank) {
  std::vector<Visitor> taken;
  {
    const std::lock_guard lock(mutex_);
    for (auto& [number, port] : open_)
      std::erase_if(port.visitors, [&](const Visitor& visitor) { return visitor.rank == rank; });
    std::ranges::copy_if(taken_, std::back_inserter(taken),
                         [&](const Visitor& visitor) { return visitor.rank == rank; });
  }
  // In the words that it would have said.
  bool is_there = false;
  for (const Visitor& visitor : taken) {
    const p2p::MatchKey key = job_address(rank_, rank, JobTag::kConfirm, visitor.question).key();
    rank_.inbox->take({key.context, rank, key.tag}, sizeof is_there,
                      {&is_there, sizeof is_there, datatype::predefined(MPI_BYTE)}, net::Sink::Bound::kIgnore);
  }
}

void OpenPorts::asked(int rank, std::span<const std::byte> bytes) {
  Question question;
  if (bytes.size() != sizeof question) return;
  std::memcpy(&question, bytes.data(), sizeof question);
  const Visitor visitor{rank, question.number};
  Waiting* thread = nullptr;
  Answer refusal = Answer::kNotOpen;
  {
    const std::lock_guard lock(mutex_);
    const auto found = open_.find(question.port);
    if (found != open_.end()) refusal = Answer::kWrongToken;
    if (found != open_.end() && found->second.token == question.token) {
      Port& port = found->second;
      if (port.waiting.empty()) return port.visitors.push_back(visitor);
      thread = port.waiting.front();
      taken_.push_back(visitor);
      port.waiting.pop_front();
    }
  }
  if (thread == nullptr) return answer(visitor, refusal);
  thread->visitor = visitor;
  thread->over.signal();
}

/// A client's question, until it is answered. It deletes itself if the client has given up.
class ConnectRequest final : public p2p::ReceiveOperation, net::ProgressTask {
 public:
  /// `place`: of the server, if it is of another job.
  ConnectRequest(Rank& self, const PortName& name, net::HeldPlace place)
      : self_(self), server_(name.rank), number_(next_question()), place_(std::move(place)) {
    static_cast<void>(completion.abandon());  // no thread waits for it as a request: see end_abandoned()
    {
      const std::lock_guard lock(all().mutex);
      all().requests.push_back(this);
    }
    begin(job_address(self, server_, JobTag::kAnswer, number_),
          {&answer_, sizeof answer_, datatype::predefined(MPI_BYTE)});
    const Question question{name.port, number_, name.token};
    mpi::tell(self, server_, JobTag::kPort, 0, as_bytes(question));
    // It may have ended before this was among those that are told so.
    if (place_ && self.world.link->has_ended(server_)) answer_for(server_);
  }
  ~ConnectRequest() {
    const std::lock_guard lock(all().mutex);
    std::erase(all().requests, this);
  }

  /// The process of rank `server` has ended: each request that waits for its answer gets Answer::kEnded.
  static void answer_for(int server);

  std::uint32_t number() const { return number_; }
  Answer answer() const { return answer_; }
  net::HeldPlace take_place() { return std::move(place_); }
  /// Waits for the answer; false if it has not come by then: the object is not the caller's any more.
  bool wait_until(std::chrono::steady_clock::time_point limit);
  void wait() { over_.wait(); }
  void confirm(bool is_there) { mpi::tell(self_, server_, JobTag::kConfirm, number_, as_bytes(is_there)); }

 private:
  enum State : std::uint8_t { kAsked, kAnswered, kGivenUp };

  /// Those of this process. Never destroyed: ranks may still run when the process ends.
  struct All {
    std::mutex mutex;  // no thread waits while it holds this
    std::vector<ConnectRequest*> requests;
  };
  static All& all() {
    static All& made = *new All;
    return made;
  }

  // Not at once: the thread that delivers the answer may hold locks.
  void end_abandoned() override { net::run_here(this); }
  void run() override {
    // acq_rel: pairs with wait_until(): one of the two sees what the other has done.
    if (state_.exchange(kAnswered, std::memory_order_acq_rel) == kAsked) {
      over_.signal();
      return;
    }
    if (answer_ == Answer::kAccepted) confirm(false);
    delete this;
  }

  Rank& self_;
  const int server_;
  const std::uint32_t number_;
  net::HeldPlace place_;  // the server has a number as long as its answer is missing
  Answer answer_ = Answer::kNotOpen;
  std::atomic<State> state_{kAsked};
  fiber::Completion over_;
};

void ConnectRequest::answer_for(int server) {
  std::vector<std::pair<Rank*, std::uint32_t>> asking;
  {
    const std::lock_guard lock(all().mutex);
    for (const ConnectRequest* const one : all().requests)
      if (one->server_ == server) asking.emplace_back(&one->self_, one->number_);
  }
  const Answer answer = Answer::kEnded;
  for (const auto& [rank, number] : asking) {
    const p2p::MatchKey key = job_address(*rank, server, JobTag::kAnswer, number).key();
    rank->inbox->take({key.context, server, key.tag}, sizeof answer,
                      {const_cast<Answer*>(&answer), sizeof answer, datatype::predefined(MPI_BYTE)},
                      net::Sink::Bound::kIgnore);
  }
}

bool ConnectRequest::wait_until(std::chrono::steady_clock::time_point limit) {
  constexpr std::chrono::milliseconds kLook{1};
  while (!over_.done()) {
    const auto now = fiber::now();
    if (now >= limit) {
      if (state_.exchange(kGivenUp, std::memory_order_acq_rel) == kAsked) return false;
      over_.wait();  // the answer has just come
      return true;
    }
    fiber::sleep_until(std::min(limit, now + kLook));
    p2p::poll(self_);
  }
  return true;
}

/// The value of the info key `timeout`: how many seconds MPI_Comm_connect waits. Negative: without end.
Status timeout_of(const core::Info* info, double& seconds) {
  seconds = -1;
  const std::string* const text = info != nullptr ? info->get("timeout") : nullptr;
  if (text == nullptr) return {};
  // Not std::from_chars(): that of double needs libm, and the MPI library does without (topo/grid.cc).
  static const locale_t with_point = ::newlocale(LC_ALL_MASK, "C", nullptr);
  char* end = nullptr;
  seconds = ::strtod_l(text->c_str(), &end, with_point);
  if (end != text->c_str() && *end == '\0' && std::isfinite(seconds) && seconds >= 0) return {};
  return base::fail(MPI_ERR_INFO_VALUE, "(info): timeout = \"{}\" is no number of seconds", *text);
}

Status why_not(Answer answer, const char* port_name) {
  const char* const why = answer == Answer::kNotOpen ? "the port is not open, or not any more"
                          : answer == Answer::kEnded ? "its process has ended"
                          : answer == Answer::kWrongToken
                              ? "the token in the name is not the port's"
                              : "the port was closed before the connection was accepted";
  return base::fail(MPI_ERR_PORT, "(port_name = \"{}\"): refused: {}", text_of(port_name), why);
}

/// What is wrong with a port that is to be connected to, before it is asked.
Status check_name(const Rank& self, const char* port_name, PortName& name) {
  if (port_name == nullptr) return base::fail(MPI_ERR_PORT, "(port_name = NULL): it has no address");
  if (!parse(text_of(port_name), name)) return no_port(text_of(port_name));
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
  CLUMP_TRY(timeout_of(info, seconds));
  using Clock = std::chrono::steady_clock;
  const auto limit = seconds < 0 ? Clock::time_point::max()
                                 : fiber::now() + std::chrono::duration_cast<Clock::duration>(
                                                      std::chrono::duration<double>(std::min(seconds, 1e9)));
  const bool is_of_other_job = name.job != job_name();
  const Expecting expecting(is_of_other_job ? self.world.link.get() : nullptr);
  net::HeldPlace place;
  if (is_of_other_job)
    CLUMP_TRY(reach(self.world, {name.link, name.rank, name.process},
                    fmt::format("(port_name = \"{}\")", text_of(port_name)), name.rank, place, limit));
  // A rank of this process that has never opened a port takes no questions.
  const auto& server = self.world.ranks[static_cast<std::size_t>(name.rank)];
  if (server != nullptr && server->ports.load(std::memory_order_acquire) == nullptr)
    return why_not(Answer::kNotOpen, port_name);

  auto* const question = new ConnectRequest(self, name, std::move(place));
  if (seconds < 0) {
    question->wait();
  } else {
    if (!question->wait_until(limit))
      return base::fail(MPI_ERR_PORT,
                        "(port_name = \"{}\"): nobody has accepted within {} s (info key timeout)",
                        text_of(port_name), seconds);
  }
  const Answer answer = question->answer();
  link = {self.comm_job.get(), name.rank, static_cast<int>(question->number()), question->take_place()};
  if (answer == Answer::kAccepted) question->confirm(true);
  delete question;
  return answer == Answer::kAccepted ? Status() : why_not(answer, port_name);
}

/// At the root of MPI_Comm_accept: waits for a client that is still there.
Status accept(Rank& self, const char* port_name, LeaderLink& link) {
  if (port_name == nullptr) return base::fail(MPI_ERR_PORT, "(port_name = NULL): it has no address");
  PortName name;
  if (!parse(text_of(port_name), name)) return no_port(text_of(port_name));
  auto* const ports = static_cast<OpenPorts*>(self.ports.load(std::memory_order_acquire));
  if (name.job != job_name() || name.rank != self.number || ports == nullptr)
    return base::fail(MPI_ERR_PORT,
                      "(port_name = \"{}\"): the root, which has to accept, has not opened this port",
                      text_of(port_name));
  for (;;) {
    Visitor visitor;
    CLUMP_TRY(ports->next(name, visitor));
    const bool is_of_other_job = self.world.link != nullptr && self.world.link->is_place(visitor.rank);
    const Answer answer = Answer::kAccepted;
    tell(self, visitor.rank, JobTag::kAnswer, visitor.question, as_bytes(answer));
    bool is_there = false;
    core::Operation operation;
    CLUMP_TRY(p2p::receive(job_address(self, visitor.rank, JobTag::kConfirm, visitor.question),
                           {&is_there, sizeof is_there, datatype::predefined(MPI_BYTE)}, operation));
    ports->confirmed(visitor);
    if (!is_there) continue;
    link = {self.comm_job.get(), visitor.rank, static_cast<int>(visitor.question), {}};
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

Status reach(const core::World& world, const net::link::PeerName& name, const std::string& what, int& rank,
             net::HeldPlace& place, std::chrono::steady_clock::time_point limit) {
  if (const std::string why = why_no_other_jobs(); !why.empty())
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                      "{}: it is of another job, and none can be connected to this one: {}", what, why);
  if (world.link == nullptr || name.job.id == 0)
    return base::fail(MPI_ERR_UNSUPPORTED_OPERATION, "{}: it is of a job to which no other one can connect", what);
  CLUMP_TRY(listen_to_jobs(world));
  const Status connected = world.link->connect(name, limit);
  if (!connected.ok()) return base::fail(MPI_ERR_PORT, "{}: {}", what, base::message_of(connected.code()));
  place = world.link->hold_place_of(name, rank);
  if (rank >= 0) return {};
  return base::fail(MPI_ERR_UNSUPPORTED_OPERATION,
                    "{}: a process can be connected to {} ranks of other jobs at a time, and is", what,
                    room_for_jobs());
}

Status open_port_for_jobs(Rank& self, std::string& name) {
  CLUMP_TRY(listen_to_jobs(self.world));
  PortName made{.job = job_name(), .rank = self.number};
  if (self.world.link != nullptr) {
    const net::link::PeerName own = self.world.link->name_of(self.number);
    made.process = own.process;
    made.link = own.job;
    self.world.link->expect(1);
  }
  name = ports_of(self).open(made).text();
  return {};
}

void close_port(Rank& self, const std::string& name) {
  static_cast<void>(close_port(self, name.c_str()));
}

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

Status open_port(Rank& self, core::Info*, char* port_name) {
  std::string text;
  CLUMP_TRY(open_port_for_jobs(self, text));
  std::memcpy(port_name, text.c_str(), text.size() + 1);
  return {};
}

Status close_port(Rank& self, const char* port_name) {
  PortName name;
  if (!parse(text_of(port_name), name)) return no_port(text_of(port_name));
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
  CLUMP_TRY(check_intra(comm));
  const auto find = [&](LeaderLink& link) { return accept(self, port_name, link); };
  return introduce(coll::Members(comm), root, find, comm, newcomm);
}

Status comm_connect(Rank& self, const char* port_name, MPI_Info info, int root, Comm& comm,
                    MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  CLUMP_TRY(check_intra(comm));
  const auto find = [&](LeaderLink& link) { return request_connection(self, port_name, info, link); };
  return introduce(coll::Members(comm), root, find, comm, newcomm);
}

}  // namespace clump::mpi
