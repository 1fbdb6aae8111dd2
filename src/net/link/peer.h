// A process of another job, and the connections to it.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fiber/completion.h"
#include "net/incoming_rendezvous.h"
#include "net/link/connection.h"
#include "net/link/proof.h"
#include "net/link/public_name.h"

namespace clump::net {
class LinkChannel;
}

namespace clump::net::link {

class LinkRendezvous;
class Peer;

/// A socket, from connect() or accept() until the link's thread closes it. Used by that thread, but for
/// writing, which the Peer's mutex guards.
class Connection final : public Watched, Incoming::Taker {
 public:
  Connection(LinkChannel& channel, int socket, std::shared_ptr<Peer> peer,
             std::unique_ptr<Stranger> stranger = {})
      : channel_(channel),
        socket_(socket),
        stranger(std::move(stranger)),
        peer(std::move(peer)),
        has_come(this->peer == nullptr) {}
  ~Connection();

  int socket() const { return socket_; }
  bool read(std::span<std::byte> buffer) { return incoming_.read(socket_, buffer, *this); }
  /// What was wrong with what has come, in words; empty: nothing.
  const std::string& wrong() const { return wrong_; }

 private:
  bool is_ready(std::uint32_t events) override;
  bool may_begin(const Frame& frame) override;
  bool take(const Frame& frame, std::span<const std::byte> bytes) override;
  std::span<std::byte> place_for(const Frame& frame) override;
  bool take_data(const Frame& frame, std::span<const std::byte> bytes, std::size_t in_place) override;
  LinkRendezvous* fetching(const Frame& frame) const;

  bool refuse(const Frame& frame, std::string_view why);
  void answer_asking(const std::string& refusal);

  LinkChannel& channel_;
  const int socket_;
  Incoming incoming_;
  bool is_answered_ = false;  // this process has connected, and is let in
  std::string wrong_;

 public:
  std::unique_ptr<Stranger> stranger;  ///< between hosts, until the other side has proved itself
  std::shared_ptr<Peer> peer;          ///< null: it has not sent its name
  const bool has_come;                 ///< the other process has connected
};

/// A message that was announced to another process, or for which that one has asked.
struct Announced {
  SendRequest* message = nullptr;
  Count bytes = 0;
  bool is_asked_for = false;
  bool is_cancelled = false;  ///< the other process is asked to give it back
};

class Peer : public std::enable_shared_from_this<Peer> {
 public:
  Peer(const JobName& job, int process, const Location& where) : job(job), process(process), where(where) {}

  /// A thread in LinkChannel::connect().
  struct Asking {
    fiber::Completion over;
    std::string refusal;
  };

  const JobName job;
  const int process;

  std::mutex mutex;  // guards what follows
  Location where;
  enum class State : std::uint8_t { kNew, kConnecting, kOpen, kOver } state = State::kNew;
  /// Two if both processes connected at the same time. All is written to the first one. Not empty if kOpen.
  std::vector<Connection*> connections;
  Connection* proving = nullptr;  ///< kConnecting, to another host: not one of them yet
  std::deque<PendingFrame> backlog;
  bool has_backlog = false;    ///< it is counted as one
  std::size_t held = 0;        ///< memory of the backlog
  bool is_welcome = false;     ///< it has let this process in, or has come by itself
  bool fails_at_once = false;  ///< if no process listens there
  bool is_anothers = false;    ///< another user listens where it should
  bool is_here = false;        ///< it has said kHere, and not kBye since
  bool we_are_here = false;    ///< the same of this process
  int held_places = 0;         ///< of its ranks
  std::vector<Asking*> asking;
  std::uint64_t last_number = 0;
  /// Messages that wait for a receive there, or for being written, by their numbers.
  std::map<std::uint64_t, Announced> announced;
  /// What fetches messages of that process, by its number.
  std::map<std::uint64_t, LinkRendezvous*> fetching;
  std::string wrong;  ///< why its connections are being closed: what it has sent
  /// Ranks there at which too much waits: messages to them are announced first.
  std::set<int> crowded;
  std::chrono::steady_clock::time_point give_up{};

  /// A number for a message or for what fetches one. The caller has the lock. Numbers are no addresses, and
  /// none of the ofi channel: a matcher that keeps messages of several channels does not take one for
  /// another.
  std::uint64_t next_number() { return (last_number += 4) | 3; }
  static bool is_number(std::uint64_t number) { return (number & 3) == 3; }

  /// Ranks here of which it knows that they are crowded. Used by the link's thread only.
  std::set<int> told_crowded;
};

/// A message that a process of another job has announced.
class LinkRendezvous final : public IncomingRendezvous {
 public:
  LinkRendezvous(LinkChannel& channel, std::shared_ptr<Peer> peer, const Frame& rts, const Envelope& envelope)
      : IncomingRendezvous(envelope, rts.bytes, reinterpret_cast<SendRequest*>(rts.message)),
        channel_(channel),
        peer_(std::move(peer)) {}

  /// How many bytes are still to come.
  Count missing() const { return wanted() - arrived_; }
  /// Where its next bytes go, if they lie there as they come.
  std::span<std::byte> place() const;
  /// More of it has come: into place() if `bytes` has no address.
  void take(std::span<const std::byte> bytes, std::size_t in_place);

 private:
  void send_fin() override { tell(Kind::kFin); }
  void send_cancelled() override { tell(Kind::kCancelled); }
  void pull() override;
  void tell(Kind kind);

  LinkChannel& channel_;
  const std::shared_ptr<Peer> peer_;
  std::uint64_t number_ = 0;
  Count arrived_ = 0;
};

}  // namespace clump::net::link
